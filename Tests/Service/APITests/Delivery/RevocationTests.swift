import SatchelCore
import Foundation
import Stores
import Synchronization
import TestSupport
import Testing

@testable import API

/// Raised once, for whoever looks.
private final class Flag: Sendable {
    private let state = Atomic(false)

    var isRaised: Bool { state.load(ordering: .sequentiallyConsistent) }
    func raise() { state.store(true, ordering: .sequentiallyConsistent) }
}

/// Revoked means revoked.
@Suite(.timeLimit(.minutes(10))) struct RevocationTests {
    /// However slowly the client reads: after each 20 kB it waits so many microseconds.
    @Test(arguments: [("/", 2_000), ("http://x/", 2_000), ("/", 50_000), ("http://x/", 50_000)] as [(String, UInt32)])
    func `a stream that is open when its access is taken back ends long before its end`(
        start: String, pause: UInt32
    ) async throws {
        try await LiveService.run { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 60_000_000)])
            let (id, path) = try await live.lease(to: content, .main)
            let reader = SlowReader(port: port)
            let whole = Task { try await reader.read(start + path.dropFirst(), pause: pause) }
            try await eventually { reader.bytes > 100_000 }
            // Another's access that is taken back leaves it alone.
            let (other, _) = try await live.lease(to: content, .main)
            _ = try await live.store.records.revoke(other, in: .owner(live.tenant))
            let before = reader.bytes
            try await Task.sleep(for: .milliseconds(600))
            #expect(reader.bytes > before)
            _ = try await live.store.records.revoke(id, in: .owner(live.tenant))
            // The slower client would read for two more minutes, the other for seconds.
            #expect(try await whole.value < 60_000_000)
        }
    }

    @Test func `no read starts after access was taken back, however often it was read before`() async throws {
        try await LiveService.run { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 5000)])
            for round in 0..<15 {
                let (id, path) = try await live.lease(to: content, .main)
                let isOver = Flag()
                let readers = (0..<3).map { _ in
                    Task {
                        try await onThread {
                            let client = try RawClient(port: port)
                            var good = 0
                            var late = 0
                            while true {
                                let wasOver = isOver.isRaised
                                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                                let status = try client.reply().status
                                if status == 200 { good += 1 }
                                if status == 200, wasOver { late += 1 }
                                if wasOver { return (good, late) }
                            }
                        }
                    }
                }
                try await Task.sleep(for: .milliseconds(5 + round))
                _ = try await live.store.records.revoke(id, in: .owner(live.tenant))
                isOver.raise()
                for reader in readers { #expect(try await reader.value.1 == 0) }
            }
        }
    }

    @Test func `another process takes access back too`() async throws {
        try await LiveService.run {
            $0.needsDirectory = true
        } _: { live in
            let content = try await live.deliver([.main: Data(repeating: 1, count: 5000)])
            let (id, path) = try await live.lease(to: content, .main)
            #expect(try await RawClient.ask(live.port, "GET", path).status == 200)
            // A second opening of the store stands for the other process: it shares nothing but the files.
            let other = try Store.open(
                at: live.store.directory, keys: live.directory.path(percentEncoded: false) + "/keys")
            _ = try await other.records.revoke(id, in: .owner(live.tenant))
            #expect(try await RawClient.ask(live.port, "GET", path).status == 404)
        }
    }

    @Test func `access ends at its time, also where it was just read; a stream may come to its end`() async throws {
        try await LiveService.run { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 8_000_000)])
            let path = try await live.leasePath(to: content, .main, for: .seconds(4))
            let slow = Task { try await SlowReader(port: port).read(path, pause: 15_000) }
            #expect(try await RawClient.ask(port, "HEAD", path).status == 200)
            try await Task.sleep(for: .milliseconds(4200))
            #expect(try await RawClient.ask(port, "HEAD", path).status == 404)
            let (other, _) = try await live.lease(to: content, .main)
            _ = try await live.store.records.revoke(other, in: .owner(live.tenant))
            #expect(try await slow.value > 8_000_000)
        }
    }

    @Test func `files of what was deleted are given up soon, though they were just read`() async throws {
        try await LiveService.run { live in
            let content = try await live.deliver([.main: Data(repeating: 1, count: 5000)])
            let path = try await live.leasePath(to: content, .main)
            #expect(try await RawClient.ask(live.port, "GET", path).status == 200)
            _ = try await live.store.records.delete(content, of: live.tenant)
            #expect(try await RawClient.ask(live.port, "GET", path).status == 404)
            let directory = live.store.directory
            try await eventually {
                let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                return !names.contains {
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
                    return target?.hasPrefix(directory + "/blobs") == true
                }
            }
        }
    }
}
