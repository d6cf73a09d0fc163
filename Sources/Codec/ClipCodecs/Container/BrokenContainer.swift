import SatchelCore
import StillCodecs

/// What is the matter with a file that begins like a container that is read, and that no demuxer takes.
enum BrokenContainer {
    /// How containers begin that nothing else begins like.
    private static let signs: [(type: MediaType, at: Int, sign: String)] = [
        (.ogg, 0, "OggS"), (.flac, 0, "fLaC"), (.wav, 8, "WAVEfmt "), (.avi, 8, "AVI LIST"), (.mp4, 4, "ftyp"),
        (.caf, 0, "caff\0\u{1}"), (.amr, 0, "#!AMR"),
    ]

    private static func type(of head: [UInt8]) -> MediaType? {
        signs.first { head.dropFirst($0.at).starts(with: $0.sign.utf8) }?.type
    }

    static func begins(_ head: [UInt8]) -> Bool { type(of: head) != nil }

    /// - Parameters:
    ///   - head: Of the file, more than a page of Ogg has.
    ///   - bytes: Of the whole file.
    static func finding(of head: [UInt8], bytes: Int64, sniffed: String) -> Finding {
        let type = type(of: head) ?? MediaType(declared: sniffed)
        if type == .ogg, hasWrongPage(head) { return Finding(.checksumDiffers, named: "first page") }
        let declared = DeclaredSize.chunk(head, isBigEndian: type == .aiff) ?? DeclaredSize.segment(head)
        if let declared, declared > bytes { return Finding(.endsBefore) }
        let isSound = type?.rawValue.hasPrefix("audio/") == true
        return Finding(.notDecoded, isSound ? .sound : .video, named: type?.format.name)
    }

    /// Whether the first page of an Ogg file is whole and its checksum isn't that of its bytes (RFC 3533, section 6).
    private static func hasWrongPage(_ head: [UInt8]) -> Bool {
        guard head.count > 27, head.count >= 27 + Int(head[26]) else { return false }
        let body = 27 + Int(head[26])
        let end = head[27..<body].reduce(body) { $0 + Int($1) }
        guard head.count >= end else { return false }
        var register: UInt32 = 0
        for (place, byte) in head[..<end].enumerated() {
            register ^= UInt32(22..<26 ~= place ? 0 : byte) << 24
            for _ in 0..<8 { register = register << 1 ^ (register >> 31) * 0x04c1_1db7 }
        }
        return head[22..<26].littleEndian != Int(register)
    }
}
