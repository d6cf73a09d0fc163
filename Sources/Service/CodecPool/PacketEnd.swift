import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc

/// The service's end of a packet socket; no call blocks a thread.
struct PacketEnd: ~Copyable, Sendable {
    let socket: Descriptor

    init(_ socket: consuming Descriptor) {
        self.socket = socket
    }

    enum Reception {
        /// The caller owns the descriptors.
        case packet(Data, descriptors: [Int32])
        /// Nothing there yet.
        case nothing
        case ended
        /// What came is no packet of ours: why.
        case refused(String)
    }

    /// Sends at once; the errno where it can't.
    borrowing func send(_ message: some Encodable, descriptors: [Int32] = []) -> Int32 {
        guard let bytes = try? JSON.encode(message) else { return EINVAL }
        return send(packet: bytes, descriptors: descriptors)
    }

    /// Sends what is encoded already.
    borrowing func send(packet bytes: Data, descriptors: [Int32]) -> Int32 {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return EINVAL }
            return unsafe sandbox_send(socket.number, start, buffer.count, descriptors, descriptors.count, false)
        }
    }

    /// - Parameter most: Descriptors that may come along.
    borrowing func receive(capacity: Int, descriptors most: Int = 0) -> Reception {
        var descriptors = [Int32](repeating: -1, count: max(1, most))
        var count = 0
        var bytes = Data()
        let length = unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            let length = unsafe sandbox_receive(
                socket.number, start, buffer.count, &descriptors, most, &count, false)
            if length > 0 { unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<length])) }
            return length
        }
        switch length {
        case 1...: return .packet(bytes, descriptors: Array(descriptors.prefix(count)))
        case 0, Int(-ECONNRESET): return .ended
        case Int(-EAGAIN): return .nothing
        case Int(-EMSGSIZE): return .refused("a packet of over \(capacity) bytes")
        case Int(-EPROTO): return .refused("descriptors that nobody asked for")
        default: return .refused(SystemError("receive a packet", code: Int32(-length)).description)
        }
    }

    /// The other side reads the end; what it sent before can still be read here.
    borrowing func hangUp() {
        Glibc.shutdown(socket.number, Int32(SHUT_RDWR))
    }
}
