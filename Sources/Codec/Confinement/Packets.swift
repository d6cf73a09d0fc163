import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc

/// One end of a packet socket; calls block.
struct Packets: ~Copyable {
    let socket: Descriptor

    /// The socket ended, or what came over it is no part of a conversation.
    struct Ended: Error {}

    init(_ socket: consuming Descriptor) {
        self.socket = socket
    }

    borrowing func send(_ message: some Encodable, descriptors: [Int32] = []) throws(Ended) {
        guard let bytes = try? JSON.encode(message) else { throw Ended() }
        let code = unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return EINVAL }
            return unsafe sandbox_send(socket.number, start, buffer.count, descriptors, descriptors.count, true)
        }
        guard code == 0 else { throw Ended() }
    }

    /// Waits for a message; the caller owns the descriptors that came with it.
    borrowing func receive<Message: Decodable>(
        _ type: Message.Type, capacity: Int = CodecMessage.maximumBytes
    ) throws(Ended) -> (message: Message, descriptors: [Int32]) {
        let (bytes, descriptors) = try receive(capacity: capacity)
        guard let message = try? JSON.decode(type, from: bytes) else {
            for descriptor in descriptors { close(descriptor) }
            throw Ended()
        }
        return (message, descriptors)
    }

    /// Waits for a packet; the caller owns the descriptors that came with it.
    borrowing func receive(capacity: Int) throws(Ended) -> (bytes: Data, descriptors: [Int32]) {
        let most = 16
        var descriptors = [Int32](repeating: -1, count: most)
        var count = 0
        var bytes = Data()
        let length = unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            let length = unsafe sandbox_receive(socket.number, start, buffer.count, &descriptors, most, &count, true)
            if length > 0 { unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<length])) }
            return length
        }
        guard length > 0 else { throw Ended() }
        descriptors.removeSubrange(count...)
        return (bytes, descriptors)
    }
}

/// Two ends that are connected.
struct PacketPair: ~Copyable {
    let near: Descriptor
    let far: Descriptor

    init() throws(SystemError) {
        var sockets: [Int32] = [-1, -1]
        let code = unsafe sandbox_packet_pair(&sockets)
        guard code == 0 else { throw SystemError("make a pair of sockets", code: code) }
        near = Descriptor(owning: sockets[0])
        far = Descriptor(owning: sockets[1])
    }

    /// Keeps the near end; the far one is closed.
    consuming func keepingNear() -> Descriptor { near }
}
