import SatchelCore
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
        let error = AttachmentError.unrecognizedType(sniffed: "text/plain").ofFile(named: name, declared: type)
        #expect(error == .misnamed(fileExtension: promised, sniffed: "text/plain"))
        #expect(error.code == .unrecognizedType)
        #expect(
            error.message.hasPrefix(
                "This is named .\(promised), but it is text (text/plain)"))
    }

    @Test(arguments: [
        ("a.png", "text/html", "This is named .png, but it is a web page, as servers also answer in place of a file."),
        ("a.jpg", "application/gzip", "This is named .jpg, but it is an archive. Unpack it, and send what is in it."),
        ("a.jpg", "application/pdf", "This is named .jpg, but it is a PDF document."),
        ("a.heic", "multipart/appledouble", "This is named .heic, but it is what macOS notes beside a file."),
    ])
    func `what is known to be something else than its name says is called that`(
        name: String, sniffed: String, message: String
    ) {
        let error = AttachmentError.unrecognizedType(sniffed: sniffed).ofFile(named: name, declared: nil)
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test(
        arguments: [("page.html", nil), ("page.html", "image/png"), (nil, "text/html"), (nil, nil)]
            as [(String?, String?)])
    func `what promises nothing that is taken is only not recognised`(name: String?, type: String?) {
        let error = AttachmentError.unrecognizedType(sniffed: nil)
        #expect(error.ofFile(named: name, declared: type) == error)
    }

    @Test(
        arguments: [("text/plain", "Open it as text to see"), (nil, "Check that it is the right file")]
            as [(String?, String)])
    func `what is text can be read, and what isn't is looked at otherwise`(sniffed: String?, advice: String) {
        let error = AttachmentError.unrecognizedType(sniffed: sniffed).ofFile(named: "a.mp4", declared: nil)
        #expect(error.message.contains(advice), "\(error.message)")
    }

    @Test func `other refusals stay as they are`() {
        let error = AttachmentError.unreadable(Finding(.checksumDiffers))
        #expect(error.ofFile(named: "cat.gif", declared: nil) == error)
    }

    @Test func `a file of few bytes is told that, unless its bytes say what it is`() {
        let error = AttachmentError.unrecognizedType(sniffed: nil).ofFile(named: "a.jpg", declared: nil, bytes: 22)
        #expect(error == .unreadable(Finding(.tooSmall, of: 22)))
        let text = AttachmentError.unrecognizedType(sniffed: "text/plain")
        #expect(text.ofFile(named: "a.jpg", declared: nil, bytes: 22).code == .unrecognizedType)
        let large = AttachmentError.unreadable(Finding(.notDecoded))
        #expect(large.ofFile(named: "a.jpg", declared: nil, bytes: 100) == large)
    }

    @Test func `a file that begins as its name says isn't told that it doesn't`() {
        let named = AttachmentError.unrecognizedType(sniffed: "image/gif").ofFile(named: "a.gif", declared: nil)
        #expect(
            named.message.hasPrefix(
                "This is named .gif and begins like one, but Satchel could read nothing behind that."))
    }
}
