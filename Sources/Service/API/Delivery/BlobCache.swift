import SatchelCore
import NIOCore
import Synchronization

/// Small blobs that were read from a store of another machine, by their names, which are never used for other bytes. Whether
/// they may be read is asked all the same.
///
/// There are two halves, and what is used is in the newer one: when that is full, the older one is given up and the newer one
/// takes its place.
final class BlobCache: Sendable {
    /// Bytes of a blob that may be kept.
    static let largest: Int64 = 64 << 10
    /// What an entry takes beside its bytes, about.
    private static let overhead = 256

    private struct State {
        var newer: [BlobName: ByteBuffer] = [:]
        var older: [BlobName: ByteBuffer] = [:]
        var size = 0
    }

    private let half: Int
    private let state = Mutex(State())

    /// - Parameter capacity: Bytes at most.
    init(capacity: Int64) {
        half = Int(capacity / 2)
    }

    func bytes(of name: BlobName) -> ByteBuffer? {
        state.withLock { state in
            if let found = state.newer[name] { return found }
            guard let found = state.older.removeValue(forKey: name) else { return nil }
            keep(found, as: name, in: &state)
            return found
        }
    }

    /// - Parameter bytes: All of the blob's.
    func keep(_ bytes: ByteBuffer, as name: BlobName) {
        state.withLock { keep(bytes, as: name, in: &$0) }
    }

    private func keep(_ bytes: ByteBuffer, as name: BlobName, in state: inout State) {
        let size = bytes.readableBytes + Self.overhead
        guard size <= half, state.newer[name] == nil else { return }
        if state.size + size > half { state = State(older: state.newer) }
        state.newer[name] = bytes
        state.size += size
    }
}
