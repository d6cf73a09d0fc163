import SatchelCore
import CJPEG
import CVips
import GIF

/// A still picture as a file, and how it came about.
struct EncodedStill: ~Copyable {
    var bytes: EncodedBytes
    var type: MediaType
    var size: PixelSize
    /// This is nil where fewer pixels or colors may have made the picture opaque.
    var hasAlpha: Bool?
    /// How often it was encoded.
    var encodes: Int
    /// Why it was encoded instead of being kept; nil where it was kept, or nothing speaks of that.
    var obstacle: KeepingObstacle?
    /// For a person: `JPEG quality 82, 1 encode, under the aim of 500000 bytes`.
    var note: String
    /// `true` if transparency was laid over a color.
    var isFlattened = false
}

/// Turns pixels into a file that meets its policy: what ``StillPlan`` decides, carried out.
struct StillEncoder {
    var policy: StillPolicy
    var effort: Effort = .full
    var downscaler: any StillDownscaler = VipsDownscaler()
    /// Bytes of the PNG whose pixels are encoded, all of them and as they were, where it may be kept.
    var keptPNG: Int64?
    /// The source's own pixels where they are in Display P3, in which that PNG would be kept.
    var displayP3: DisplayP3Pixels?
    /// Bytes of the JPEG that the picture comes from, where it does: as a JPEG it takes no more, if the quality allows.
    var sourceJPEG: Int64?
    /// Whether the picture's colours come at half their resolution.
    var hasHalvedColours = false

    /// Encodes a computed sRGB picture of 8 bits with 3 or 4 bands.
    ///
    /// - Throws: ``AttachmentError/capUnreachable(rendition:bytes:cap:advice:)`` only where the policy keeps the
    ///   resolution.
    func encode(_ picture: borrowing Picture) throws(AttachmentError) -> EncodedStill {
        do {
            let still = try encodeOrFail(picture)
            guard let sourceJPEG, still.type == .jpeg, still.size == picture.size, still.bytes.count > sourceJPEG,
                policy.aim.map({ $0 > sourceJPEG }) ?? true, !WorkTime.isUp
            else { return still }
            var encoder = self
            encoder.sourceJPEG = nil
            encoder.policy.aim = sourceJPEG
            encoder.policy.aimsAtSource = true
            do {
                var smaller = try encoder.encodeOrFail(picture)
                // The first is made again there.
                smaller.encodes += still.encodes - 1
                return smaller
            } catch  where WorkTime.isUp {
                return still
            }
        } catch let failure as VipsFailure {
            if WorkTime.isUp { throw WorkTime.failure }
            throw failure.lack ?? .codecCrashed(reason: "an encoder failed: \(failure.text)")
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
        still.isFlattened = true
        still.note += ", transparency laid over \(policy.background.hexadecimal)"
        return still
    }

    private func search(_ picture: borrowing Picture) throws -> EncodedStill {
        let channels = picture.bands
        let colours = try picture.colourCount()
        var expected =
            policy.type(transparent: channels == 4) == .png ? try estimate(picture, colours) : nil
        // What the source takes is no estimate.
        if let keptPNG { expected = expected.map { min($0, keptPNG) } }
        var plan = StillPlan(
            policy, size: picture.size, channels: channels, truecolour: expected,
            fine: try fine(picture, colours), keeping: displayP3 == nil ? .truecolour : .displayP3)
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
            } catch let error as VipsFailure where attempt.type == .webp && error.lack == nil {
                // libwebp refuses what its first partition of 512 KiB cannot hold.
                failure = error
                plan.record(.max)
            }
        }
        if let keptPNG, plan.isWorthKeeping(keptPNG), let bytes = try keptInTime(picture, colours) {
            plan.recordKept(Int64(bytes.count))
            if plan.best == plan.rival { delivered = .some(bytes) }
        }
        guard let best = plan.best, let delivered else {
            if let failure { throw failure }
            throw AttachmentError.capUnreachable(
                rendition: policy.role.rawValue, bytes: plan.attempts.map(\.bytes).min() ?? 0, cap: policy.cap,
                advice: "Allow fewer pixels, or raise the cap.")
        }
        let obstacle = keptPNG.flatMap { plan.obstacle(toKeeping: $0) }
        var note = keptPNG != nil && obstacle == nil ? "kept: " : ""
        note += plan.note + (channels == 4 && policy.minds ? ", because it has transparency" : "")
        let mayBeOpaque = channels == 4 && (best.attempt.size != picture.size || best.attempt.form == .palette)
        return EncodedStill(
            bytes: delivered, type: best.attempt.type, size: best.attempt.size,
            hasAlpha: mayBeOpaque ? nil : channels == 4, encodes: plan.attempts.count,
            obstacle: obstacle, note: note)
    }

    private func fine(_ picture: borrowing Picture, _ colours: ColourCount) throws(VipsFailure) -> FineColours? {
        guard policy.types.contains(.jpeg), var fine = try FineColours(picture, colours) else { return nil }
        fine.areHalved = hasHalvedColours
        return fine
    }

    // MARK: Encodes

    private func save(_ picture: borrowing Picture, _ attempt: StillAttempt) throws -> EncodedBytes {
        guard attempt.size != picture.size else { return try encoded(picture, attempt) }
        let smaller = try downscaler.scaled(picture, to: attempt.size)
        return try encoded(smaller.hasAlpha ? smaller.withoutHidden() : smaller.computed(), attempt)
    }

    func encoded(_ picture: borrowing Picture, _ attempt: StillAttempt) throws -> EncodedBytes {
        switch attempt.form {
        case .truecolour, .displayP3: return try lossless(picture, picture.colourCount())
        case .palette: return try quantised(picture)
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

    /// PNG with all colours. For a small picture all ways are tried, and for one that may be kept.
    private func lossless(_ picture: borrowing Picture, _ count: ColourCount) throws(VipsFailure) -> EncodedBytes {
        let isSmall = picture.size.area <= FineColours.mostPixels && effort == .full
        let compression: Int32 = isSmall ? 9 : effort == .full ? 6 : 3
        let isThorough = isSmall || keptPNG != nil
        let smallest = try picture.smallestPNG(count, PNGForm(compression: compression, isThorough: isThorough))
        // Whoever made the source took more time for it.
        guard let keptPNG, !isSmall, effort == .full, smallest.count > keptPNG else { return smallest }
        return try smallest.smaller(picture.smallestPNG(count, PNGForm(compression: 9, isThorough: true)))
    }

    /// The PNG that is kept; nil where the time is up first.
    private func keptInTime(_ picture: borrowing Picture, _ count: ColourCount) throws -> EncodedBytes? {
        guard !WorkTime.isUp else { return nil }
        do {
            guard let displayP3 else { return try lossless(picture, count) }
            let own = try displayP3.picture(hasAlpha: picture.hasAlpha)
            return try lossless(own, own.colourCount())
        } catch {
            guard WorkTime.isUp else { throw error }
            return nil
        }
    }

    private func quantised(_ picture: borrowing Picture) throws(VipsFailure) -> EncodedBytes {
        let compression: Int32 = effort == .full ? 6 : 3
        let quality = Int32(policy.quality)
        return try unsafe picture.withHandle { (handle) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_quantised_png(handle, buffer, length, compression, quality)
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
