import Foundation
import Glibc
import Synchronization

/// Takes callbacks on 127.0.0.1, each as long as it is told to; a thread for each connection, which stays open.
final class CallbackReceiver: Sendable {
    enum Manner: Sendable {
        /// Takes each after so many milliseconds.
        case taking(milliseconds: UInt32)
        /// Asks for all of them again at the same time, some seconds from now.
        case postponing(until: ContinuousClock.Instant)
        /// Takes the call and says nothing.
        case silent
    }

    /// A call that was answered.
    struct Call: Sendable {
        var at: ContinuousClock.Instant
        /// Seconds from the end of the job to the call's arrival.
        var lag: Double
    }

    let port: UInt16
    private let manner: Mutex<Manner>
    private let seen = Mutex<[Call]>([])

    init(_ manner: Manner) throws {
        self.manner = Mutex(manner)
        let listener = try LoopbackListener(backlog: 512)
        port = listener.port
        listener.serve { [self] connection in
            let thread = Thread {
                self.serve(connection)
                close(connection)
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }

    /// For the query of a submission.
    var parameter: String { "&callback=http://127.0.0.1:\(port)/hook" }

    var calls: [Call] { seen.withLock { $0 } }

    func change(to manner: Manner) {
        self.manner.withLock { $0 = manner }
        seen.withLock { $0 = [] }
    }

    /// Waits until so many calls came.
    ///
    /// - Throws: ``CommandFailure`` where they didn't within `seconds`.
    func wait(for count: Int, within seconds: Int) throws {
        for _ in 0..<seconds * 100 {
            if seen.withLock({ $0.count }) >= count { return }
            usleep(10_000)
        }
        throw CommandFailure(
            command: ["callbacks"], reason: "\(calls.count) of \(count) calls came within \(seconds) s")
    }

    private struct Job: Decodable {
        var finishedAt: String

        private enum CodingKeys: String, CodingKey {
            case finishedAt = "finished_at"
        }
    }

    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    private func serve(_ connection: Int32) {
        var buffer = Data()
        while let body = Self.request(from: connection, &buffer) {
            let end = (try? JSONDecoder().decode(Job.self, from: body)).flatMap {
                try? Date($0.finishedAt, strategy: Self.format)
            }
            let call = Call(at: .now, lag: end.map { -$0.timeIntervalSinceNow } ?? .infinity)
            let answer: String
            switch manner.withLock(\.self) {
            case .taking(let milliseconds):
                usleep(milliseconds * 1000)
                answer = "HTTP/1.1 204 No Content\r\n\r\n"
            case .postponing(let end):
                let seconds = Int(((end - ContinuousClock.now) / .seconds(1)).rounded(.up))
                answer =
                    "HTTP/1.1 503 Later\r\nRetry-After: \(max(seconds, 1))\r\nContent-Length: 0\r\n\r\n"
            case .silent:
                seen.withLock { $0.append(call) }
                sleep(60)
                return
            }
            seen.withLock { $0.append(call) }
            let bytes = Array(answer.utf8)
            guard unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return }
        }
    }

    /// The body of the next request; nil at the connection's end.
    private static func request(from connection: Int32, _ buffer: inout Data) -> Data? {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        func fill() -> Bool {
            let count = unsafe recv(connection, &piece, piece.count, 0)
            if count > 0 { buffer.append(contentsOf: piece[..<count]) }
            return count > 0
        }
        var head = buffer.range(of: Data("\r\n\r\n".utf8))
        while head == nil {
            guard fill() else { return nil }
            head = buffer.range(of: Data("\r\n\r\n".utf8))
        }
        guard let end = head else { return nil }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).lowercased()
            .components(separatedBy: "\r\n")
        let length =
            lines.first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        buffer = Data(buffer[end.upperBound...])
        while buffer.count < length { guard fill() else { return nil } }
        defer { buffer = Data(buffer.dropFirst(length)) }
        return Data(buffer.prefix(length))
    }
}
