import Attachments
import CVips

/// A still picture as a file, and how it came about.
struct EncodedStill: ~Copyable {
    var bytes: EncodedBytes
    var type: MediaType
    var size: PixelSize
    /// For a person: `JPEG quality 82, 1 encode, under the aim of 500000 bytes`.
    var note: String
}

/// Turns pixels into a file that meets its policy: by type, by quality, never over its cap.
struct StillEncoder {
    var policy: StillPolicy
    var effort: Effort = .full

    /// Encodes a computed sRGB picture of 8 bits with 3 or 4 bands.
    func encode(_ picture: borrowing Picture) throws(AttachmentError) -> EncodedStill {
        do {
            return try encodeOrFail(picture)
        } catch let failure as VipsFailure {
            if WorkTime.isUp { throw WorkTime.failure }
            throw .codecCrashed(reason: "an encoder failed: \(failure.text)")
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .codecCrashed(reason: "\(error)")
        }
    }

    private func encodeOrFail(_ picture: borrowing Picture) throws -> EncodedStill {
        if try picture.isOpaque() {
            guard picture.hasAlpha else { return try encode(picture, transparent: false, flattened: false) }
            return try encode(picture.withoutAlpha(), transparent: false, flattened: false)
        }
        if policy.types.contains(where: \.hasTransparency) {
            return try encode(picture.withoutHidden(), transparent: true, flattened: false)
        }
        return try encode(picture.flattened(over: policy.background), transparent: false, flattened: true)
    }

    private func encode(
        _ picture: borrowing Picture, transparent: Bool, flattened: Bool
    ) throws -> EncodedStill {
        let type = policy.type(transparent: transparent)
        let attempt = type == .png ? try png(picture) : try lossy(picture, as: type)
        var note = attempt.note
        if transparent, policy.minds { note += ", because it has transparency" }
        if flattened { note += ", transparency laid over \(policy.background.hexadecimal)" }
        guard attempt.bytes.count <= policy.cap else {
            throw AttachmentError.capUnreachable(
                rendition: policy.role.rawValue, bytes: Int64(attempt.bytes.count), cap: policy.cap,
                advice: "Allow fewer pixels, or raise the cap.")
        }
        return EncodedStill(bytes: attempt.bytes, type: type, size: picture.size, note: note)
    }

    private struct Attempt: ~Copyable {
        var bytes: EncodedBytes
        var note: String
    }

    /// The bytes to stay under, if the quality allows.
    private var target: Int64 { min(policy.aim ?? policy.cap, policy.cap) }

    private func verdict(_ count: Int) -> String {
        guard let aim = policy.aim else { return "under the cap of \(policy.cap) bytes" }
        return Int64(count) <= aim ? "under the aim of \(aim) bytes" : "over the aim of \(aim) bytes"
    }

    // MARK: JPEG and WebP

    private func lossy(_ picture: borrowing Picture, as type: MediaType) throws -> Attempt {
        let name = type == .jpeg ? "JPEG" : "WebP"
        var search = QualitySearch(policy)
        while true {
            let quality = search.quality
            let bytes = try save(picture, as: type, quality: quality)
            guard search.next(after: bytes.count) else {
                let encodes = search.encodes == 1 ? "1 encode" : "\(search.encodes) encodes"
                var note = "\(name) quality \(quality), \(encodes), \(verdict(bytes.count))"
                if Int64(bytes.count) > target, quality <= policy.minimumQuality {
                    note += " at the lowest quality allowed"
                }
                return Attempt(bytes: bytes, note: note)
            }
        }
    }

    private func save(_ picture: borrowing Picture, as type: MediaType, quality: Int) throws -> EncodedBytes {
        let webpEffort: Int32 = effort == .full ? 4 : 1
        return try unsafe picture.withHandle { (handle) throws(VipsFailure) in
            if type == .webp {
                return try unsafe EncodedBytes.webp(handle, quality: Int32(quality), effort: webpEffort)
            }
            return try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_jpeg(handle, buffer, length, Int32(quality))
            }
        }
    }

    // MARK: PNG

    private func png(_ picture: borrowing Picture) throws -> Attempt {
        let whole = try savePNG(picture, palette: false)
        guard Int64(whole.count) > target else {
            let note = "PNG, 1 encode, \(verdict(whole.count))"
            return Attempt(bytes: whole, note: note)
        }
        let reduced = try savePNG(picture, palette: true)
        let note = "PNG with 256 colours, 2 encodes, \(verdict(reduced.count))"
        return Attempt(bytes: reduced, note: note)
    }

    private func savePNG(_ picture: borrowing Picture, palette: Bool) throws -> EncodedBytes {
        let compression: Int32 = effort == .full ? 6 : 3
        let quality = Int32(policy.quality)
        return try unsafe picture.withHandle { (handle) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_png(handle, buffer, length, compression, palette ? 1 : 0, quality)
            }
        }
    }
}

/// Which quality to try next, by what the last one came to.
struct QualitySearch: Hashable, Sendable {
    /// What is tried now.
    private(set) var quality: Int
    /// Encodes that were made.
    private(set) var encodes = 0
    private let aim: Int64
    private let cap: Int64
    private let floorForAim: Int

    /// Below this neither JPEG nor WebP saves much more.
    static let lowestQuality = 20
    static let mostEncodes = 4

    init(_ policy: StillPolicy) {
        quality = policy.quality
        aim = min(policy.aim ?? policy.cap, policy.cap)
        cap = policy.cap
        floorForAim = min(policy.minimumQuality, policy.quality)
    }

    /// Takes note of what an encode at ``quality`` came to; whether another is to be made, at the new ``quality``.
    mutating func next(after bytes: Int) -> Bool {
        encodes += 1
        let overCap = Int64(bytes) > cap
        let lowest = overCap ? min(Self.lowestQuality, floorForAim) : floorForAim
        guard encodes < Self.mostEncodes, Int64(bytes) > aim, quality > lowest else { return false }
        // The last attempt counts.
        if encodes == Self.mostEncodes - 1 {
            quality = lowest
            return true
        }
        // Around the usual qualities a picture's bytes go roughly with the 1.1th power of 1 ÷ (100 − quality).
        let ratio = Double(overCap ? cap : aim) / Double(bytes) * 0.97
        let distance = Double(100 - quality) / ratio
        quality = max(lowest, min(quality - 1, Int(100 - distance)))
        return true
    }
}

extension MediaType {
    var hasTransparency: Bool {
        switch self {
        case .png, .webp, .gif: true
        default: false
        }
    }
}
