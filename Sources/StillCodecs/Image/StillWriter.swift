package import Attachments

extension Raster {
    /// Writes this picture as the still rendition that `policy` describes, and says what was written.
    ///
    /// - Parameter descriptor: Open for writing, at an empty file; it is left open.
    package func write(
        as policy: StillPolicy, effort: Effort = .full, to descriptor: Int32
    ) throws(AttachmentError) -> RenditionReport {
        let picture = try picture()
        // Pictures of videos were planes as those of JPEGs are.
        let writer = StillWriter(policy: policy, effort: effort, downscaler: PlanarJPEGDownscaler())
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

    struct Written: ~Copyable {
        var report: RenditionReport
        /// What part of the picture the rendition shows.
        var part: UnitRect
        /// All of the picture at the rendition's scale; in memory.
        var whole: Picture
    }

    /// - Parameter picture: Upright, sRGB, 8 bits, 3 or 4 bands; in memory.
    func write(_ picture: borrowing Picture, to descriptor: Int32) throws(AttachmentError) -> Written {
        let watch = Stopwatch()
        let framed = try scaling { () throws(VipsFailure) in try frame(picture) }
        let encoded = try StillEncoder(policy: policy, effort: effort, downscaler: downscaler).encode(framed.picture)
        try encoded.bytes.write(to: descriptor)
        let report = RenditionReport(
            role: policy.role, type: encoded.type, size: encoded.size, bytes: Int64(encoded.bytes.count),
            seconds: watch.seconds, note: encoded.note, effort: effort, encodes: encoded.encodes)
        return Written(report: report, part: framed.part, whole: framed.whole)
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
            switch framing.gaze {
            case .centre: Framing.square(of: result.width, around: 0.5, 0.5, in: scaled.size)
            case .point(let x, let y): Framing.square(of: result.width, around: x, y, in: scaled.size)
            case .attention: try scaled.attention(result)
            }
        return Framed(
            picture: try scaled.extracted(square).computed(), part: square.part(of: scaled.size), whole: scaled)
    }
}
