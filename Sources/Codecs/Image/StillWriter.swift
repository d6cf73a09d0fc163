import Attachments

extension Raster {
    /// Writes this picture as the still rendition that `policy` describes, and says what was written.
    ///
    /// - Parameter descriptor: Open for writing, at an empty file; it is left open.
    func write(
        as policy: StillPolicy, effort: Effort = .full, to descriptor: Int32
    ) throws(AttachmentError) -> RenditionReport {
        let picture = try picture()
        return try StillWriter(policy: policy, effort: effort).write(picture, to: descriptor)
    }
}

/// Makes one still rendition of a picture that was already decoded.
struct StillWriter {
    var policy: StillPolicy
    var effort: Effort = .full

    /// - Parameter picture: Upright, sRGB, 8 bits, 3 or 4 bands; in memory.
    func write(_ picture: borrowing Picture, to descriptor: Int32) throws(AttachmentError) -> RenditionReport {
        let watch = Stopwatch()
        let framed = try frame(picture)
        let encoded = try StillEncoder(policy: policy, effort: effort).encode(framed)
        try encoded.bytes.write(to: descriptor)
        return RenditionReport(
            role: policy.role, type: encoded.type, size: encoded.size, bytes: Int64(encoded.bytes.count),
            seconds: watch.seconds, note: encoded.note, effort: effort)
    }

    private func frame(_ picture: borrowing Picture) throws(AttachmentError) -> Picture {
        do {
            return try framing(picture)
        } catch {
            throw .codecCrashed(reason: "scaling failed: \(error.text)")
        }
    }

    /// Scaled, and cropped where a square is wanted.
    private func framing(_ picture: borrowing Picture) throws(VipsFailure) -> Picture {
        let framing = policy.framing
        let scaled = try picture.resized(to: framing.scaledSize(of: picture.size)).stripped().computed()
        let result = framing.resultSize(of: picture.size)
        guard result != scaled.size else { return scaled }
        switch framing.gaze {
        case .centre:
            return try scaled.extracted(Framing.square(of: result.width, around: 0.5, 0.5, in: scaled.size))
        case .point(let x, let y):
            return try scaled.extracted(Framing.square(of: result.width, around: x, y, in: scaled.size))
        case .attention:
            return try scaled.attention(result)
        }
    }
}
