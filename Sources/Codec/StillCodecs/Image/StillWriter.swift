package import SatchelCore

extension Raster {
    /// Writes this picture as the still rendition that `policy` describes, and says what was written.
    ///
    /// - Parameter descriptor: Open for writing, at an empty file; it is left open.
    package func write(
        as policy: StillPolicy, to descriptor: Int32
    ) throws(AttachmentError) -> RenditionReport {
        let picture = try picture()
        // Pictures of videos were planes as those of JPEGs are.
        let writer = StillWriter(policy: policy, downscaler: PlanarJPEGDownscaler())
        var report = try writer.write(picture, to: descriptor).report
        report.note += "; " + policy.shape(of: PixelRect(size), in: size, size: report.size)
        return report
    }
}

/// Makes one still rendition of a picture that was already decoded.
struct StillWriter {
    var policy: StillPolicy
    var effort: Effort = .full
    var downscaler: any StillDownscaler
    /// How the source of the picture may be kept; nil where it is no still's.
    var keeping: Keeping?
    /// The JPEG that the picture comes from; nil where it comes from something else.
    var jpeg: JPEGOrigin?

    /// What a JPEG tells of a picture that was decoded from it.
    struct JPEGOrigin: Hashable, Sendable {
        var bytes: Int64
        /// Whether the picture's colours come at half its resolution.
        var hasHalvedColours: Bool
    }

    struct Written: ~Copyable {
        var report: RenditionReport
        /// What part of the picture the rendition shows.
        var part: UnitRect
        /// All of the picture at the rendition's scale, in memory; nil where it was kept without being decoded.
        var whole: Picture?
        /// Why it was encoded instead of being kept; nil where it was kept, or nothing speaks of that.
        var obstacle: KeepingObstacle?
        /// `true` if transparency was laid over a color.
        var isFlattened = false
    }

    /// - Parameter picture: Upright, sRGB, 8 bits, 3 or 4 bands; in memory. Not looked at where a JPEG is kept.
    func write(_ picture: borrowing Picture, to descriptor: Int32) throws(AttachmentError) -> Written {
        let watch = Stopwatch()
        if let keeping, policy.takes(keeping), case .jpeg(let kept) = keeping {
            let bytes = try scaling { () throws(VipsFailure) in try EncodedBytes(copying: kept.bytes) }
            try bytes.write(to: descriptor)
            let report = RenditionReport(
                role: policy.role, type: .jpeg, size: kept.size, bytes: Int64(bytes.count), seconds: watch.seconds,
                note: "\(kept.note), under \(policy.bound)", encodes: 0)
            try report.check(descriptor, hasAlpha: false)
            return Written(report: report, part: .whole)
        }
        let framed = try scaling { () throws(VipsFailure) in try frame(picture) }
        let isScaled = policy.framing.scaledSize(of: picture.size) != picture.size
        let encoded = try encoded(framed.picture, isScaled: isScaled)
        try encoded.bytes.write(to: descriptor)
        let report = RenditionReport(
            role: policy.role, type: encoded.type, size: encoded.size, bytes: Int64(encoded.bytes.count),
            seconds: watch.seconds, note: encoded.note, encodes: encoded.encodes)
        try report.check(descriptor, hasAlpha: encoded.hasAlpha)
        return Written(
            report: report, part: framed.part, whole: framed.whole, obstacle: encoded.obstacle,
            isFlattened: encoded.isFlattened)
    }

    /// - Parameter picture: As it is to be shown.
    private func encoded(_ picture: borrowing Picture, isScaled: Bool) throws(AttachmentError) -> EncodedStill {
        var encoder = StillEncoder(policy: policy, effort: effort, downscaler: downscaler)
        encoder.sourceJPEG = jpeg?.bytes
        encoder.hasHalvedColours = jpeg?.hasHalvedColours == true && !isScaled
        var obstacle: KeepingObstacle?
        switch keeping {
        case nil: break
        case .not(let reason): obstacle = reason
        case .png(let bytes, let displayP3): (encoder.keptPNG, encoder.displayP3) = (bytes, displayP3)
        case .jpeg(let kept): obstacle = policy.obstacle(bytes: Int64(kept.bytes.count))
        }
        var encoded = try encoder.encode(picture)
        encoded.obstacle = encoded.obstacle ?? obstacle
        return encoded
    }

    private struct Framed: ~Copyable {
        var picture: Picture
        var part: UnitRect
        /// Before a square was taken from it.
        var whole: Picture
    }

    /// Scaled, and cropped where a square is wanted.
    private func frame(_ picture: borrowing Picture) throws(VipsFailure) -> Framed {
        let framing = policy.framing
        let size = framing.scaledSize(of: picture.size)
        let scaled =
            size == picture.size
            ? picture.shared() : try downscaler.scaled(picture, to: size)
        let result = framing.resultSize(of: picture.size)
        guard result != scaled.size else {
            return Framed(picture: scaled.shared(), part: .whole, whole: scaled)
        }
        let square =
            switch framing.gravity {
            case .centre: Framing.square(of: result.width, around: 0.5, 0.5, in: scaled.size)
            case .point(let x, let y): Framing.square(of: result.width, around: x, y, in: scaled.size)
            case .attention: try scaled.attention(result)
            }
        return Framed(
            picture: try scaled.extracted(square).computed(), part: square.part(of: scaled.size), whole: scaled)
    }
}
