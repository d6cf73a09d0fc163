import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import CodecPool

extension Isolation {
    /// Memory of sources that lie in memory themselves, of what there is for all codecs.
    @Suite struct HoldingTests {
        /// Holds memory while `body` runs.
        ///
        /// - Returns: Why it could not be held.
        @discardableResult
        private func holding(
            _ bytes: Int64, of pool: CodecPool, until end: ContinuousClock.Instant? = nil, _ body: () async -> Void
        ) async -> AttachmentError? {
            do throws(AttachmentError) {
                let hold = try await pool.hold(bytes, patiently: false, until: end)
                await body()
                _ = consume hold
                return nil
            } catch {
                return error
            }
        }

        @Test func `what sources hold counts, at most a quarter is theirs, and comes back with its owner`() async throws
        {
            let pool = CodecPool(try .faulty(memory: 400 << 20))
            let first = await holding(60 << 20, of: pool) {
                #expect(pool.statistics.granted == 60 << 20)
                let late = await holding(41 << 20, of: pool, until: .now + .milliseconds(20)) {}
                #expect(late?.code == .deadlineExceeded)
            }
            #expect(first == nil && pool.statistics.granted == 0)
            #expect(await holding(100 << 20, of: pool, until: .now) {} == nil)
            #expect(await holding(100 << 20 + 1, of: pool) {}?.code == .tooExpensive)
        }

        /// Has a source worked on that holds memory, or none.
        private func work(
            on command: String, holding held: Int64?, as name: String, by pool: CodecPool, in place: Place
        ) async throws -> AttachmentError? {
            let source = try place.source(command, name: "source-\(name)")
            do throws(AttachmentError) {
                _ = try await pool.process(
                    source, order: WorkOrder(profile: CodecPool.profile), decoderSet: .common, owner: nil,
                    turn: .prompt, party: "", deadline: .now + .seconds(60), finishBy: nil, holding: held,
                    open: { source throws(AttachmentError) in try CodecPool.asItIs(source) },
                    decide: { probeResult throws(AttachmentError) in
                        var outputs: [CodecOutput] = []
                        for role in probeResult.planned {
                            outputs.append(try place.output(role, name: "\(name)-\(role.rawValue)"))
                        }
                        return .proceed(outputs: outputs)
                    }, received: { (_) throws(AttachmentError) in })
                return nil
            } catch {
                return error
            }
        }

        @Test func `sources that hold memory and sources that need all of it come to their end beside each other`()
            async throws
        {
            let scratch = try Scratch()
            let place = scratch.place
            try await withPool(.faulty(codecs: 3, memory: 400 << 20)) { pool, _ in
                let ended = try await withThrowingTaskGroup(of: AttachmentError?.self) { group in
                    for number in 0..<12 {
                        let holds = number.isMultiple(of: 2)
                        group.addTask {
                            // With a quarter more and 64 MiB, the large ones take all there is.
                            try await work(
                                on: "fault: costly \((holds ? 200 : 310) << 20)", holding: holds ? 60 << 20 : nil,
                                as: "\(number)", by: pool, in: place)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(ended == Array(repeating: nil, count: 12))
            }
        }

        @Test func `one that holds memory never gets what others may hold`() async throws {
            let scratch = try Scratch()
            let place = scratch.place
            try await withPool(.faulty(codecs: 1, memory: 400 << 20)) { pool, _ in
                let error = try await work(
                    on: "fault: costly \(310 << 20)", holding: 1 << 20, as: "one", by: pool, in: place)
                #expect(error?.code == .tooExpensive)
                #expect(pool.statistics.granted == 0)
            }
        }
    }
}
