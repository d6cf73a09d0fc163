import Foundation
import Glibc
import Synchronization

/// Ceph's object gateway, a real S3 server, for the tests of this process; it ends with the process, however that ends.
public final class S3Gateway: Sendable {
    public static let bucket = "satchel"
    /// One that keeps versions, also of what was removed.
    public static let versionedBucket = "satchel-versions"

    public let port: Int
    public let accessKey: String
    public let secretKey: String
    private let directory: URL
    private let process: Process
    /// The gateway's input, whose end is its end.
    private let hold: FileHandle

    private static let running = Mutex<Result<S3Gateway, any Error>?>(nil)

    /// The one that all tests share, each with a prefix of its own; started when it is first asked for, which takes seconds.
    public static func shared() throws -> S3Gateway {
        try running.withLock { running in
            let gateway = running ?? Result { try S3Gateway() }
            running = gateway
            return gateway
        }.get()
    }

    /// What didn't come up, and why.
    public struct Unavailable: Error, CustomStringConvertible {
        public var description: String
    }

    /// One of its own, for a test that stops it.
    public init() throws {
        try Server.ceph.demand()
        // Sockets have short names.
        directory = URL(filePath: "/dev/shm").appending(path: "satchel-s3-\(UUID().uuidString.lowercased())")
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        hold = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        let output = Pipe()
        process = Process()
        process.executableURL = Repository.root.appending(path: "Tests/Support/s3/gateway.sh")
        process.arguments = [directory.path(percentEncoded: false), Self.bucket, Self.versionedBucket]
        process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process.standardOutput = output
        process.standardError = output
        try process.run()

        // It gives up by itself.
        var said = Data()
        while !said.suffix(6).elementsEqual(Data("ready\n".utf8)) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else {
                throw Unavailable(
                    description: "Ceph's gateway didn't come up: \(String(decoding: said, as: UTF8.self))")
            }
            said += more
        }
        let text = try String(contentsOf: directory.appending(path: "env"), encoding: .utf8)
        let words = text.split { $0 == " " || $0.isNewline }.map {
            $0.split(separator: "=", maxSplits: 1).map(String.init)
        }
        let values = Dictionary(words.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
        port = values["AWS_ENDPOINT_URL_S3"]?.split(separator: ":").last.flatMap { Int($0) } ?? 0
        accessKey = values["AWS_ACCESS_KEY_ID"] ?? ""
        secretKey = values["AWS_SECRET_ACCESS_KEY"] ?? ""
    }

    deinit {
        try? hold.close()
        process.waitUntilExit()
    }

    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Has it take requests and answer none.
    public func pause() throws { try signal(SIGSTOP) }

    public func resume() throws { try signal(SIGCONT) }

    private func signal(_ number: Int32) throws {
        let text = try String(contentsOf: directory.appending(path: "osd.pid"), encoding: .utf8)
        guard let id = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)), kill(id, number) == 0 else {
            throw Unavailable(description: "Ceph's storage daemon is gone")
        }
    }
}
