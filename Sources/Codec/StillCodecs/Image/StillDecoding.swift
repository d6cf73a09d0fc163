import SatchelCore
import CJPEG
import CVips

/// One decode by libvips: what it is asked for.
package struct StillDecoding {
    var facts: StillFacts
    var format: PictureFormat
    var region: PixelRect
    var size: PixelSize
    var speed: Speed
    var chroma: ChromaResolution

    /// What becomes of a picture of which more is missing than few would notice.
    var damaged: WhenDamaged

    /// - Parameter faults: What is missing or odd is added.
    /// - Throws: ``AttachmentError/unreadable(_:)`` where nothing can be decoded, or too little for `damaged`.
    func runOrRefuse(
        _ bytes: borrowing SourceBytes, _ header: borrowing Picture, faults: inout Diagnosis
    ) throws(AttachmentError) -> Picture {
        var end: DataEnd?
        let failure: VipsFailure
        do {
            let warnings = DecoderWarnings()
            let picture = try run(bytes, header, end: &end)
            var isDoubtful = end.map { !$0.hasMarker || $0.leftOver > Self.oddBytes } ?? false
            switch warnings {
            case .some(let warnings):
                if format == .tiff { try note(warnings.damagedFaxRows, .notDecoded, &faults) }
                // libvips takes any number of libjpeg's warnings.
                if end == nil, !warnings.isEmpty { isDoubtful = true }
                if warnings.isOfProfile { faults.evidence.append(Finding(.profileLeftOut)) }
            case nil: break
            }
            // libvips doesn't look behind the last row.
            if format == .jpeg, isDoubtful || end == nil {
                _ = try countDamage(bytes, leftOver: end?.leftOver ?? 0, isDoubtful: isDoubtful, &faults)
            }
            return picture
        } catch let error as VipsFailure {
            failure = error
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .codecCrashed(reason: "\(error)")
        }
        let refusal = failure.damage(of: facts.type.format.name)
        guard case .unreadable = refusal else { throw refusal }
        do {
            return switch format {
            case .jpeg: try tolerated(bytes, header, refusal, &faults)
            case .png, .tiff: try found(bytes, header, refusal, &faults)
            case .webp: try decoded(bytes, header, refusal, &faults)
            default: throw refusal
            }
        } catch let error as AttachmentError {
            throw error
        } catch let error as VipsFailure {
            // What fails for good is damage; memory and time are not.
            throw error.damage(of: facts.type.format.name)
        } catch {
            throw .codecCrashed(reason: "\(error)")
        }
    }

    /// Bytes behind the last row that say nothing of it.
    private static let oddBytes = 3

    /// Rows that are missing, where there are any.
    private func note(
        _ missing: Int, _ code: Finding.Code, _ faults: inout Diagnosis, _ part: Finding.Part = .rows
    ) throws(AttachmentError) {
        let finding = Finding(code, part, missing: missing, of: facts.storedSize.height)
        if let loss = try finding.loss(when: damaged) { faults.losses.append(loss) }
    }

    /// Counts what a JPEG lacks. Returns false where nothing of it can be decoded.
    ///
    /// - Parameters:
    ///   - leftOver: Bytes behind the last row, where they are known.
    ///   - isDoubtful: Whether anything besides bytes behind the last row counts.
    private func countDamage(
        _ bytes: borrowing SourceBytes, leftOver: Int = 0, isDoubtful: Bool = true, _ faults: inout Diagnosis
    ) throws(AttachmentError) -> Bool {
        guard let found = JPEGReader.damage(of: bytes) else { return false }
        guard isDoubtful || found.is_cut != 0 || found.left_over > Self.oddBytes else { return true }
        if found.is_cut != 0, found.missing == 0 { faults.evidence.append(Finding(.endMarkMissing)) }
        let missing = Int(found.missing)
        switch (found.is_cut != 0, found.has_several_scans != 0) {
        case (true, true): try note(missing, .endsBefore, &faults, .detail)
        case (true, false): try note(missing, facts.isFilledUp ? .zeros : .endsBefore, &faults)
        // Huffman codes that were changed may lead anywhere, and on until the data is used up.
        case (false, _): try note(missing, found.ends_early != 0 ? .dataEndsEarly : .notDecoded, &faults)
        }
        let odd = max(leftOver, Int(found.left_over))
        if missing == 0, odd > Self.oddBytes {
            // Changed codes are mostly codes too: decoders show what they come to, and some bits are left over.
            faults.evidence.append(Finding(.bytesLeftOver, of: Double(odd)))
        }
        return true
    }

    /// A JPEG as far as it goes.
    private func tolerated(
        _ bytes: borrowing SourceBytes, _ header: borrowing Picture, _ refusal: AttachmentError,
        _ faults: inout Diagnosis
    ) throws -> Picture {
        guard try countDamage(bytes, &faults) else { throw WorkTime.isUp ? WorkTime.failure : refusal }
        var end: DataEnd?
        return try run(bytes, header, isLenient: true, end: &end)
    }

    /// A PNG's or a TIFF's rows as far as they can be decoded.
    private func found(
        _ bytes: borrowing SourceBytes, _ header: borrowing Picture, _ refusal: AttachmentError,
        _ faults: inout Diagnosis
    ) throws -> Picture {
        guard let warnings = DecoderWarnings() else {
            throw AttachmentError.tooExpensive(resource: "memory", granted: "share")
        }
        let isPNG = format == .png
        let dataEnd = unsafe bytes.withBytes { unsafe TIFFDirectory.dataEnd(in: $0) }
        var refusal = refusal
        // libtiff calls it a read error that data means nothing.
        if !isPNG, let dataEnd, dataEnd <= bytes.count {
            refusal = .unreadable(Finding(.notDecoded, .picture, named: "TIFF", by: "libvips \(Libvips.version)"))
        }
        var rows = unsafe satchel_rows_found()
        let loaded = try bytes.load(format, SourceBytes.Loading(isLenient: isPNG))
        let picture = try unsafe withUnsafeMutablePointer(to: &rows) { rows throws(VipsFailure) in
            try unsafe finished(
                scaled(
                    warnings.rows(of: loaded, found: rows, warns: isPNG), by: VipsDownscaler(speed: speed)))
        }
        let height = facts.storedSize.height
        let missing = unsafe height - Int(rows.first_missing)
        let isCut =
            isPNG
            ? unsafe !bytes.withBytes { unsafe PNGChunks.hasEnd($0) }
            : refusal == VipsFailure.cut(facts.type.format.name)
        guard missing < height else { throw isCut ? VipsFailure.cut(facts.type.format.name) : refusal }
        if missing > 0 {
            try note(missing, isCut ? .endsBefore : .notDecoded, &faults)
        } else if isCut {
            faults.evidence.append(Finding(.endMarkMissing))
        } else {
            // The inflated data has a checksum of its own.
            if isPNG, unsafe bytes.withBytes({ unsafe PNGChunks.isSound($0, of: facts.storedSize) }) {
                faults.evidence.append(Finding(.checksumDiffers, named: "chunks"))
                return picture
            }
            // All rows are there, and nobody knows which of them are right.
            let doubt = Finding(.checksumDiffers, .rows, of: Double(height), named: "rows")
            guard damaged == .salvage else { throw AttachmentError.unreadable(doubt) }
            faults.losses.append(doubt)
        }
        return picture
    }

    /// A WebP's rows as far as libwebp decodes them, what follows grey or transparent.
    private func decoded(
        _ bytes: borrowing SourceBytes, _ header: borrowing Picture, _ refusal: AttachmentError,
        _ faults: inout Diagnosis
    ) throws -> Picture {
        if try unsafe bytes.withMutableBytes({ unsafe WebPChunks.dropAlpha(from: $0) }) {
            // Its colours may be whole: a picture without its transparency is more than none.
            var end: DataEnd?
            if let opaque = try? run(bytes, bytes.load(.webp), end: &end) {
                faults.losses.append(Finding(.notDecoded, .transparency))
                return opaque
            }
            if WorkTime.isUp { throw WorkTime.failure }
            throw refusal
        }
        let (size, bands) = (facts.storedSize, header.bands)
        guard bands == 3 || bands == 4, header.pixelBytes == bands else { throw refusal }
        var pixels = [UInt8](repeating: bands == 4 ? 0 : 0x80, count: Int(size.area) * bands)
        try unsafe bytes.withMutableBytes { unsafe WebPChunks.endBehindFile($0) }
        let rows = unsafe bytes.withBytes { bytes in
            unsafe pixels.withUnsafeMutableBufferPointer { pixels in
                guard let from = unsafe bytes.bindMemory(to: UInt8.self).baseAddress, let to = pixels.baseAddress
                else { return -1 }
                return unsafe Int(
                    satchel_webp_rows(from, bytes.count, Int32(bands), to, Int32(size.width), Int32(size.height)))
            }
        }
        guard rows > 0 else { throw refusal }
        // The decoder may have begun on the rows behind.
        let end = min(rows, size.height) * size.width * bands
        for place in end..<pixels.count { pixels[place] = bands == 4 ? 0 : 0x80 }
        // Where all rows came, what failed is in the last.
        try note(max(1, size.height - rows), facts.isCut ? .endsBefore : .notDecoded, &faults)
        return try unsafe finished(scaled(header.like(pixels, size: size), by: VipsDownscaler(speed: speed)))
    }

    private func run(
        _ bytes: borrowing SourceBytes, _ header: borrowing Picture, isLenient: Bool = false, end: inout DataEnd?
    ) throws(VipsFailure) -> Picture {
        try finished(
            facts.downscaler(at: speed).decoded(self, bytes, header, isLenient: isLenient, end: &end))
    }

    /// The part of the stored picture that is wanted.
    var storedRegion: PixelRect { region.stored(orientation: facts.orientation, upright: facts.size) }

    /// Its size as stored.
    var target: PixelSize { facts.orientation >= 5 ? size.swapped : size }

    /// What was loaded, scaled.
    func scaled(_ loaded: borrowing Picture, by downscaler: VipsDownscaler) throws(VipsFailure) -> Picture {
        try downscaler.scaled(
            facts.isPremultiplied ? loaded.dividedByAlpha() : loaded.withoutLongIntegers(),
            storedRegion.scaled(from: facts.storedSize, to: loaded.size), to: target)
    }

    /// What was scaled, upright in sRGB; in memory.
    private func finished(_ scaled: borrowing Picture) throws(VipsFailure) -> Picture {
        if let coded = facts.coded {
            return try scaled.upright(facts.orientation).standardColour(from: coded)
        }
        return try small(scaled)
    }

    /// Upright, in sRGB, without metadata; in memory.
    private func small(_ scaled: borrowing Picture) throws(VipsFailure) -> Picture {
        let small = try scaled.standardColour()
        return try facts.orientation == 1
            ? small.stripped().computed() : small.computed().upright(facts.orientation).stripped().computed()
    }

    /// As much of the scaling as the decoder can do by itself.
    var shrinkOnLoad: SourceBytes.Loading {
        let factor = min(
            Double(region.size.width) / Double(size.width), Double(region.size.height) / Double(size.height))
        var loading = SourceBytes.Loading()
        switch format.shrinksOnLoad {
        case .divides(let divisors):
            loading.shrink = divisors.first { factor / Double($0) >= speed.divisionMargin } ?? 1
        case .scales:
            if let margin = speed.scaleMargin, factor > 2 * margin { loading.scale = margin / factor }
        case nil:
            break
        }
        return loading
    }
}
