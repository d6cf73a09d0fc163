import Attachments
import CJPEG
import CVips
import GIF

/// A still picture as a file, and how it came about.
struct EncodedStill: ~Copyable {
    var bytes: EncodedBytes
    var type: MediaType
    var size: PixelSize
    /// How often it was encoded.
    var encodes: Int
    /// For a person: `JPEG quality 82, 1 encode, under the aim of 500000 bytes`.
    var note: String
}

/// Turns pixels into a file that meets its policy: what ``StillPlan`` decides, carried out.
struct StillEncoder {
    var policy: StillPolicy
    var effort: Effort = .full
    var downscaler: any StillDownscaler = VipsDownscaler()

    /// Encodes a computed sRGB picture of 8 bits with 3 or 4 bands.
    ///
    /// - Throws: ``AttachmentError/capUnreachable(rendition:bytes:cap:advice:)`` only where the policy keeps the
    ///   resolution.
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
            guard picture.hasAlpha else { return try search(picture) }
            return try search(picture.withoutAlpha())
        }
        if policy.types.contains(where: \.hasTransparency) { return try search(picture.withoutHidden()) }
        var still = try search(picture.flattened(over: policy.background))
        still.note += ", transparency laid over \(policy.background.hexadecimal)"
        return still
    }

    private func search(_ picture: borrowing Picture) throws -> EncodedStill {
        let channels = picture.bands
        let colours = try picture.colourCount()
        let expected =
            policy.type(transparent: channels == 4) == .png ? try estimate(picture, colours) : nil
        var plan = StillPlan(
            policy, size: picture.size, channels: channels, truecolour: expected,
            fine: policy.types.contains(.jpeg) ? try FineColours(picture, colours) : nil)
        var delivered: EncodedBytes?
        var failure: VipsFailure?
        // Refining ends with the time; what suits already is delivered.
        while let attempt = plan.next, delivered == nil || !WorkTime.isUp {
            do {
                let bytes = try save(picture, attempt)
                plan.record(Int64(bytes.count))
                if plan.best?.attempt == attempt { delivered = .some(bytes) }
            } catch let error as VipsFailure where WorkTime.isUp && plan.best != nil {
                failure = error
                break
            } catch let error as VipsFailure where attempt.type == .webp {
                // libwebp refuses what its first partition of 512 KiB cannot hold.
                failure = error
                plan.record(.max)
            }
        }
        guard let best = plan.best, let delivered else {
            if let failure { throw failure }
            throw AttachmentError.capUnreachable(
                rendition: policy.role.rawValue, bytes: plan.attempts.map(\.bytes).min() ?? 0, cap: policy.cap,
                advice: "Allow fewer pixels, or raise the cap.")
        }
        let note = plan.note + (channels == 4 && policy.minds ? ", because it has transparency" : "")
        return EncodedStill(
            bytes: delivered, type: best.attempt.type, size: best.attempt.size, encodes: plan.attempts.count,
            note: note)
    }

    // MARK: Encodes

    private func save(_ picture: borrowing Picture, _ attempt: StillAttempt) throws -> EncodedBytes {
        guard attempt.size != picture.size else { return try encoded(picture, attempt) }
        let smaller = try downscaler.scaled(picture, to: attempt.size)
        return try encoded(smaller.hasAlpha ? smaller.withoutHidden() : smaller.computed(), attempt)
    }

    func encoded(_ picture: borrowing Picture, _ attempt: StillAttempt) throws -> EncodedBytes {
        switch attempt.form {
        case .truecolour: return try lossless(picture, picture.colourCount())
        case .palette: return try png(picture, .quantised, compression: effort == .full ? 6 : 3)
        case .plain: return try EncodedBytes(copying: PlainWebP.file(try picture.raster()))
        case .quality(let quality) where attempt.type == .webp:
            let webpEffort: Int32 = effort == .full ? 4 : 1
            return try unsafe picture.withHandle { (handle) throws(VipsFailure) in
                try unsafe EncodedBytes.webp(handle, quality: Int32(quality), effort: webpEffort)
            }
        case .quality(let quality):
            return try jpeg(picture, quality: quality, attempt)
        }
    }

    private func jpeg(
        _ picture: borrowing Picture, quality: Int, _ attempt: StillAttempt
    ) throws(VipsFailure) -> EncodedBytes {
        // As ``BoundedStill`` has it.
        let isBounded = attempt.isBounded
        let isThorough = policy.speed != .fast && effort == .full && !isBounded
        // The tables of ten scans outweigh what they save of a small picture.
        let isProgressive = isThorough && picture.size.area >= 128 * 128
        // Of a small picture the usual tables are a good part, and making better ones costs little.
        let isOptimised = policy.speed != .fast || isBounded || picture.size.area < 512 * 512
        // By the policy's quality, so that another one is tried with the same.
        let best = isThorough ? try ChromaResolution.best(of: picture, quality: policy.quality) : .half
        let chroma = isBounded ? .half : attempt.chroma ?? best
        return try picture.jpeg(
            satchel_jpeg_form(
                quality: Int32(quality), is_progressive: isProgressive ? 1 : 0,
                is_optimised: isOptimised ? 1 : 0,
                has_full_chroma: chroma == .full ? 1 : 0))
    }

    /// PNG with all colours: of at most 256 with a palette of just these, but where there is transparency, under which
    /// libimagequant paints a colour of its own. For a small picture the ways are tried.
    private func lossless(
        _ picture: borrowing Picture, _ count: ColourCount
    ) throws(VipsFailure) -> EncodedBytes {
        let isSmall = picture.size.area <= FineColours.mostPixels && effort == .full
        let compression: Int32 = isSmall ? 9 : effort == .full ? 6 : 3
        var smallest: EncodedBytes
        if let colours = count.colours, picture.bands == 3 {
            let bits: Int32 = colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8
            smallest = try unsafe picture.withHandle { (handle) throws(VipsFailure) in
                try unsafe EncodedBytes { buffer, length in
                    unsafe satchel_save_indexed_png(handle, buffer, length, compression, bits)
                }
            }
            guard isSmall else { return smallest }
            let filtered = try png(picture, .filtered, compression: compression)
            if filtered.count < smallest.count { smallest = filtered }
        } else {
            smallest = try png(picture, .filtered, compression: compression)
            guard isSmall else { return smallest }
        }
        let plain = try png(picture, .plain, compression: compression)
        return plain.count < smallest.count ? plain : smallest
    }

    private enum Rows {
        /// Each by the filter that libpng takes for the best.
        case filtered
        case plain
        /// Of at most 256 colours.
        case quantised
    }

    private func png(
        _ picture: borrowing Picture, _ rows: Rows, compression: Int32
    ) throws(VipsFailure) -> EncodedBytes {
        let quality = Int32(policy.quality)
        return try unsafe picture.withHandle { (handle) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_png(
                    handle, buffer, length, compression, rows == .filtered ? 1 : 0, rows == .quantised ? 1 : 0, quality)
            }
        }
    }

    /// Bytes that PNG with all colours is expected to take, from a tenth of its rows; nil where trying costs little.
    private func estimate(_ picture: borrowing Picture, _ colours: ColourCount) throws(VipsFailure) -> Int64? {
        let size = picture.size
        guard size.area >= Self.costlyPixels, size.height >= Self.strips * 16 else { return nil }
        // Fewer rows would be judged without what compresses them: those above.
        let rows = max(8, size.height / (10 * Self.strips))
        var bytes = 0
        for strip in 0..<Self.strips {
            let top = (size.height - rows) * strip / (Self.strips - 1)
            let part = PixelRect(left: 0, top: top, size: PixelSize(width: size.width, height: rows))
            bytes += try lossless(picture.extracted(part), colours).count
        }
        return Int64(Double(bytes) * Double(size.height) / Double(rows * Self.strips))
    }

    private static let costlyPixels: Int64 = 100_000
    private static let strips = 5
}

extension Picture {
    /// As a JPEG; of RGB in memory.
    fileprivate func jpeg(_ form: satchel_jpeg_form) throws(VipsFailure) -> EncodedBytes {
        let (width, height) = (Int32(width), Int32(height))
        return try unsafe withPixels { (pixels) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                var bytes: UnsafeMutablePointer<UInt8>?
                let result = unsafe satchel_jpeg_write(
                    pixels, width, height, form, WorkTime.stops, &bytes, &length.pointee)
                unsafe buffer.pointee = UnsafeMutableRawPointer(bytes)
                return result
            }
        }
    }
}
