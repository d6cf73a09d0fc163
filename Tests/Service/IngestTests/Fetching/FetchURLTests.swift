import SatchelCore
import Testing

@testable import Ingest

@Suite struct FetchURLTests {
    @Test(arguments: [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM:443/A/b", "https://example.com/A/b"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com?x=1", "http://example.com/?x=1"),
        ("http://example.com#frag", "http://example.com/"),
        ("http://example.com/a%20b/ü?q=[1]&r=100%#f", "http://example.com/a%20b/%C3%BC?q=%5B1%5D&r=100%25"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("http://my_bucket.example.com./x", "http://my_bucket.example.com/x"),
        ("http://example.com/..%2f@:", "http://example.com/..%2f@:"),
    ])
    func `a URL has one canonical text`(given: String, canonical: String) throws {
        let url = try FetchURL(given)
        #expect(url.text == canonical)
        #expect(try FetchURL(url.text) == url)
    }

    @Test(
        arguments: [
            ("b", "http://h.example/x/b"), ("./b", "http://h.example/x/b"), ("../b", "http://h.example/b"),
            ("../../../b", "http://h.example/b"), ("/b", "http://h.example/b"), ("//o.example/b", "http://o.example/b"),
            ("https://o.example", "https://o.example/"), ("?z", "http://h.example/x/y?z"),
            ("", "http://h.example/x/y?q"),
            ("#f", "http://h.example/x/y?q"), ("b/c/..", "http://h.example/x/b/"), ("b:c", nil), ("mailto:x@y", nil),
            ("//127.0.0.1\\@o.example", nil), ("//u@o.example/", nil), ("/a b", "http://h.example/a%20b"),
            ("//o .example/b", nil), ("https://o.example/a b?c d", "https://o.example/a%20b?c%20d"), ("/a\tb", nil),
            ("b?u=//x/../y", "http://h.example/x/b?u=//x/../y"),
        ] as [(String, String?)])
    func `a reference is resolved as RFC 3986 says, with its blanks encoded`(reference: String, expected: String?)
        throws
    {
        let base = try FetchURL("http://h.example/x/y?q")
        #expect((try? base.resolving(reference))?.text == expected)
    }

    @Test(
        arguments: [
            ("http://e.example/a/IMG%20042.HEIC?x=/y", "IMG 042.HEIC"), ("http://e.example/", nil),
            ("http://e.example/a%2fb%00c%0a.jpg", "abc.jpg"), ("http://e.example/%2e%2e", nil),
            ("http://e.example/caf%C3%A9.png", "café.png"), ("http://e.example/%ff.gif", "%ff.gif"),
            ("http://e.example/%E2%80%AEgpj.exe", "gpj.exe"), ("http://e.example/%zz", "%zz"),
        ] as [(String, String?)])
    func `a file name is data that no path can be made of`(url: String, name: String?) throws {
        #expect(try FetchURL(url).fileName == name)
    }

    @Test func `what a URL prints leaves out the query`() throws {
        #expect(try FetchURL("https://e.example/a?token=CANARY").description == "https://e.example:443/a")
    }

    @Test func `a URL beyond the longest is refused`() throws {
        let start = "http://e.example/"
        let longest = start + String(repeating: "a", count: FetchURL.maximumLength - start.utf8.count)
        #expect(try FetchURL(longest).text == longest)
        #expect(throws: AttachmentError.self) { try FetchURL(longest + "a") }
    }
}
