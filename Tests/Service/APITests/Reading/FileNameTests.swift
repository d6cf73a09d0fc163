import Testing

@testable import API

/// What is left of the names that clients give their files.
@Suite struct FileNameTests {
    @Test(arguments: [
        ("photo.jpg", "photo.jpg"), ("C:\\Pictures\\photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"),
        ("a\u{202E}gpj.exe", "agpj.exe"), ("..", nil), ("/", nil), ("", nil),
        // A mark that combines with a slash, or a sign before which it stands and which is left out.
        ("a\\.\u{06DD}\\b/\u{301}c", "\u{301}c"), ("a/\u{200D}b", "b"), ("a\\\u{06DD}.", nil),
    ])
    func `of a name its last component is kept, without what no name holds`(text: String, name: String?) {
        #expect(FileName.cleaned(text)?.unicodeScalars.map(\.value) == name?.unicodeScalars.map(\.value))
    }
}
