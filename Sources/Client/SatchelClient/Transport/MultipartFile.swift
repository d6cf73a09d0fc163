import Foundation

/// A `multipart/form-data` body on the disk, so that it can be streamed from there however large it is, and again.
struct MultipartFile {
    let url: URL
    let contentType: String
    private let boundary = "satchel-\(UUID().uuidString)"
    private let handle: FileHandle
    /// Bytes that are copied at a time.
    private static let piece = 1 << 18

    /// - Throws: What the file system says.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("satchel-upload-\(UUID().uuidString)")
        contentType = "multipart/form-data; boundary=\(boundary)"
        try Data().write(to: url)
        handle = try FileHandle(forWritingTo: url)
    }

    func add(_ name: String, type: String, _ data: Data) throws {
        try begin(name, fileName: nil, type: type)
        try handle.write(contentsOf: data)
        try handle.write(contentsOf: Data("\r\n".utf8))
    }

    func add(_ name: String, fileName: String, _ data: Data) throws {
        try begin(name, fileName: fileName, type: "application/octet-stream")
        try handle.write(contentsOf: data)
        try handle.write(contentsOf: Data("\r\n".utf8))
    }

    /// Copies the file, piece by piece.
    func add(_ name: String, fileName: String, contentsOf file: URL) throws {
        try begin(name, fileName: fileName, type: "application/octet-stream")
        let source = try FileHandle(forReadingFrom: file)
        defer { try? source.close() }
        while let data = try source.read(upToCount: Self.piece), !data.isEmpty {
            try handle.write(contentsOf: data)
        }
        try handle.write(contentsOf: Data("\r\n".utf8))
    }

    func close() throws {
        try handle.write(contentsOf: Data("--\(boundary)--\r\n".utf8))
        try handle.close()
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }

    private func begin(_ name: String, fileName: String?, type: String) throws {
        let file = fileName.map { "; filename=\"\(Self.quoted($0))\"" } ?? ""
        let head = """
            --\(boundary)\r
            Content-Disposition: form-data; name="\(Self.quoted(name))"\(file)\r
            Content-Type: \(type)\r
            \r

            """
        try handle.write(contentsOf: Data(head.utf8))
    }

    /// As browsers do it (WHATWG, "multipart/form-data").
    private static func quoted(_ text: String) -> String {
        text.replacingOccurrences(of: "\r", with: "%0D").replacingOccurrences(of: "\n", with: "%0A")
            .replacingOccurrences(of: "\"", with: "%22")
    }
}
