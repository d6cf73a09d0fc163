import Attachments
import Testing

/// A refusal of what no decoder knows, in terms of what the file was called.
@Suite struct MisnamedTests {
    @Test(
        arguments: [
            ("cat.gif", nil, "gif"), ("cat.GIF", "text/html", "GIF"), ("a.b.jpeg", nil, "jpeg"),
            (nil, "image/webp", "webp"), ("cat", "video/mp4", "mp4"),
        ] as [(String?, String?, String)])
    func `what is named or declared as something it doesn't begin like is told so`(
        name: String?, type: String?, promised: String
    ) {
        let error = AttachmentError.unrecognizedType(sniffed: "text/html").ofFile(named: name, declared: type)
        #expect(error == .misnamed(fileExtension: promised, sniffed: "text/html"))
        #expect(error.code == .unrecognizedType)
        #expect(
            error.message.hasPrefix(
                "This is named .\(promised), but it doesn't begin like one (it looks like text/html)"))
    }

    @Test(
        arguments: [("page.html", nil), ("page.html", "image/png"), (nil, "text/html"), (nil, nil)]
            as [(String?, String?)])
    func `what promises nothing that is taken is only not recognised`(name: String?, type: String?) {
        let error = AttachmentError.unrecognizedType(sniffed: nil)
        #expect(error.ofFile(named: name, declared: type) == error)
    }

    @Test func `other refusals stay as they are`() {
        let error = AttachmentError.corrupt(reason: "it ends")
        #expect(error.ofFile(named: "cat.gif", declared: nil) == error)
    }

    @Test func `a file that begins as its name says isn't told that it doesn't`() {
        let named = AttachmentError.unrecognizedType(sniffed: "image/gif").ofFile(named: "a.gif", declared: nil)
        #expect(named.message.hasPrefix("This is named .gif and begins like one, but nothing behind that can be read."))
    }
}
