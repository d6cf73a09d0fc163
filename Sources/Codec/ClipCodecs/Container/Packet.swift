import CFFmpeg

/// Owns a packet: compressed data of one stream.
@safe struct Packet: ~Copyable {
    let raw: UnsafeMutablePointer<AVPacket>

    init() throws(FFmpegFailure) {
        guard let raw = unsafe av_packet_alloc() else { throw .noMemory }
        unsafe self.raw = unsafe raw
    }

    deinit {
        var raw: UnsafeMutablePointer<AVPacket>? = unsafe raw
        unsafe av_packet_free(&raw)
    }

    func clear() { unsafe av_packet_unref(raw) }

    /// Takes over the contents of `other`, which is empty afterwards.
    func take(from other: borrowing Packet) {
        clear()
        unsafe av_packet_move_ref(raw, other.raw)
    }

    var stream: Int { unsafe Int(raw.pointee.stream_index) }
    var bytes: Int { unsafe Int(raw.pointee.size) }
    var isKey: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Decoded but not shown: before the start of an edit list's segment.
    var isDiscarded: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    var isCorrupt: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    var pts: Int64? { unsafe TimeBase.sane(raw.pointee.pts) }
    var dts: Int64? { unsafe TimeBase.sane(raw.pointee.dts) }
    var duration: Int64 { unsafe max(0, TimeBase.sane(raw.pointee.duration) ?? 0) }
}

/// A packet that waits in a list.
final class HeldPacket {
    let packet: Packet

    /// Takes over the contents of `other`, which is empty afterwards.
    init(taking other: borrowing Packet) throws(FFmpegFailure) {
        packet = try Packet()
        unsafe av_packet_move_ref(packet.raw, other.raw)
    }
}
