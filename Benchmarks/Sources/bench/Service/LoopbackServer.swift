import Foundation
import Glibc

/// Answers GET with one of a few files, as fast as the kernel can send them; on 127.0.0.1 alone.
final class LoopbackServer: Sendable {
    /// `http://127.0.0.1:PORT`
    let address: String

    init(serving files: [URL]) throws {
        let listener = try LoopbackListener(backlog: 16)
        address = "http://127.0.0.1:\(listener.port)"
        let paths = Dictionary(
            uniqueKeysWithValues: files.map { ("/" + $0.lastPathComponent, $0.path(percentEncoded: false)) })
        listener.serve { connection in
            Self.answer(connection, paths)
            close(connection)
        }
    }

    private static func answer(_ connection: Int32, _ paths: [String: String]) {
        var request = [UInt8](repeating: 0, count: 8192)
        let count = unsafe read(connection, &request, request.count)
        let words = String(decoding: request.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        guard words.count > 1, let path = paths[String(words[1])] else { return }
        let file = unsafe open(path, O_RDONLY)
        guard file >= 0 else { return }
        defer { close(file) }
        let bytes = Int(lseek(file, 0, SEEK_END))
        let head = Array(
            "HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: \(bytes)\r\nConnection: close\r\n\r\n".utf8)
        guard unsafe send(connection, head, head.count, Int32(MSG_NOSIGNAL)) == head.count else { return }
        var sent: off_t = 0
        while Int(sent) < bytes, unsafe sendfile(connection, file, &sent, bytes - Int(sent)) > 0 {}
        shutdown(connection, Int32(SHUT_WR))
        // Until the other side has read it all: a close now could take back what is under way.
        while unsafe read(connection, &request, request.count) > 0 {}
    }
}
