import Foundation
import Glibc

/// An origin on 127.0.0.1 that gives out files in the ways in which slow and broken ones do.
final class SlowOrigin: Sendable {
    enum Manner: String, CaseIterable, Sendable {
        /// As fast as it goes.
        case prompt
        /// Drips evenly: done after about half of the time.
        case dripping
        /// Drips evenly, so that it would be done after twice the time.
        case late
        /// Stops in the middle and says nothing more.
        case stalling
        /// Takes the request and doesn't answer.
        case silent
    }

    let port: UInt16

    init(files: [Data]) throws {
        let listener = try LoopbackListener(backlog: 64)
        port = listener.port
        listener.serve { connection in
            let thread = Thread {
                Self.answer(connection, files)
                close(connection)
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }

    /// - Parameter seconds: What the manner's times are parts of.
    func address(of file: Int, _ manner: Manner, within seconds: Double, unlike index: Int) -> String {
        "http://127.0.0.1:\(port)/\(file)/\(manner.rawValue)/\(Int(seconds * 1000))/\(index)"
    }

    private static func answer(_ connection: Int32, _ files: [Data]) {
        var request = [UInt8](repeating: 0, count: 8192)
        let count = unsafe read(connection, &request, request.count)
        let words = String(decoding: request.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        let path = words.count > 1 ? words[1].split(separator: "/") : []
        guard path.count == 4, let file = Int(path[0]), files.indices.contains(file),
            let manner = Manner(rawValue: String(path[1])), let milliseconds = Int(path[2]), let index = Int(path[3])
        else { return }
        // Nobody waits for it any longer than this.
        let patience = milliseconds + 2000
        if manner == .silent { return waitForEnd(of: connection, milliseconds: patience) }
        let body = files[file].unlike(index)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        guard send(Data(head.utf8), over: connection) else { return }
        let (pieces, pause) =
            switch manner {
            case .prompt, .silent: (1, 0)
            case .dripping: (25, milliseconds * 20)
            case .late: (50, milliseconds * 40)
            case .stalling: (2, 0)
            }
        let size = body.count / pieces + 1
        var rest = body[...]
        while !rest.isEmpty {
            guard send(Data(rest.prefix(size)), over: connection) else { return }
            rest = rest.dropFirst(size)
            if manner == .stalling { return waitForEnd(of: connection, milliseconds: patience) }
            if pause > 0, !rest.isEmpty { usleep(UInt32(clamping: pause)) }
        }
        shutdown(connection, Int32(SHUT_WR))
        waitForEnd(of: connection, milliseconds: 2000)
    }

    private static func send(_ data: Data, over connection: Int32) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private static func waitForEnd(of connection: Int32, milliseconds: Int) {
        var polled = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&polled, 1, Int32(clamping: milliseconds))
    }
}
