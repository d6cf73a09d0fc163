import SatchelCore
import Stores

/// What the records do for each job and each access.
struct RecordPieces {
    private let store: Store
    private let samples: SampleRecords
    private let token: AccessToken

    init(in directory: String) async throws {
        store = try Store.open(at: directory + "/store", keys: directory + "/keys")
        samples = SampleRecords(store: store)
        let job = try await samples.deliver(try await samples.claim(accepting: 1))
        token = try await samples.startLease(on: job.attachments[0].id)
        // A queue, so that a claim has something to choose from.
        try await samples.accept(200)
        // Every connection has its statements, whichever it will be.
        try await withThrowingTaskGroup { [store, samples, token] group in
            for _ in 0..<40 {
                group.addTask {
                    _ = try await store.records.open(token, role: .main)
                    _ = try await samples.deliver(try await samples.claim())
                }
            }
            try await group.waitForAll()
        }
    }

    func pieces() throws -> [Piece] {
        let (store, samples, token) = (store, samples, token)
        return [
            Piece(name: "claim", repetitions: 40) {
                _ = try await samples.claim()
            },
            Piece(name: "lease-check", repetitions: 100) {
                guard try await store.records.open(token, role: .main) != nil else { complain("a lease opens nothing") }
            },
            Piece(name: "commit", repetitions: 20) {
                _ = try await samples.deliver(try await samples.claim())
            },
        ]
    }
}
