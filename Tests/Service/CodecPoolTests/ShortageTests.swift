import SatchelCore
@testable import CodecPool
import Foundation
import Glibc
import Synchronization
import Testing

extension Isolation {
    /// What the machine lacks says nothing about a source.
    @Suite struct ShortageTests {
        @Test(arguments: ["starve", "late-starve", "kill", "late-kill"])
        func `a source whose process lacked a thread, or was killed, is not judged`(command: String) async throws {
            let scratch = try Scratch()
            let told = Mutex<[String]>([])
            var configuration = try CodecPoolConfiguration.faulty()
            configuration.onShortage = { reason in told.withLock { $0.append(reason) } }
            try await withPool(configuration) { pool, _ in
                let outcome = try await pool.run("fault: \(command)", in: scratch.place)
                guard case .outOfResources(let reason) = outcome.error else {
                    Issue.record("\(command) ended in \(String(describing: outcome.error))")
                    return
                }
                #expect(outcome.error?.code == .storeFailed && outcome.error?.isRetryable == true)
                #expect(told.withLock(\.self) == [reason], "it is told once")
                #expect(pool.shortage == reason)
                #expect(pool.statistics.deaths[.starved] ?? 0 > 0)
                let next = try await pool.run("fault: null", in: scratch.place)
                #expect(next.error == nil)
            }
        }

        @Test func `a source is tried again until its process has a thread`() async throws {
            let scratch = try Scratch()
            var configuration = try CodecPoolConfiguration.faulty()
            let place = scratch.place
            configuration.onShortage = { _ in
                // Written in place: the next process reads the same open file.
                let file = unsafe open(place.path(of: "output-source"), O_WRONLY)
                _ = unsafe write(file, "fault: null  ", 13)
                close(file)
            }
            try await withPool(configuration) { pool, _ in
                let outcome = try await pool.run("fault: starve", in: place)
                #expect(outcome.error == nil)
                #expect(outcome.reports.count == 2)
            }
        }

        @Test func `a limit of open files lowers the number of codecs, and is named`() throws {
            var configuration = try CodecPoolConfiguration.faulty(codecs: 100_000)
            let found = configuration.fit()
            let lack = try #require(found)
            #expect(lack.text.contains("open files") && lack.text.contains("LimitNOFILE="))
            #expect(configuration.codecs < 100_000 && configuration.codecs >= 1)
            var few = try CodecPoolConfiguration.faulty(codecs: 1)
            let none = few.fit()
            #expect(none == nil)
        }
    }
}
