public import Attachments

/// What a codec process does with a source: look at it, then make renditions of it.
///
/// Synchronous from top to bottom, and for one source at a time: libvips' errors and FFmpeg's log are global.
public enum Codec {
    /// Initialises libvips and libmagic and, for the full decoder set, FFmpeg; in the zygote, once. Checks our decoder of
    /// Huffman codes, where it may be used.
    ///
    /// Loads all modules and tables, so that nothing is opened later. Never runs a pipeline, which would start threads.
    ///
    /// - Throws: ``AttachmentError/codecCrashed(reason:)`` where a library or a decoder of this list is missing.
    public static func prepare(_ decoderSet: DecoderSet = .full, fastHuffman: Bool = true) throws(AttachmentError) {
        try Libvips.prepare(decoderSet)
        try Sniffer.prepare()
        try FFmpegLibraries.prepare(decoderSet)
        HuffmanDecoding.prepare(isAllowed: fastHuffman)
        StillPrewarming.run()
    }

    /// What was prepared and says its version.
    public static var libraries: [CodecLibrary] {
        let versions: [(CodecLibrary.Name, String?)] = [
            (.libvips, Libvips.version), (.ffmpeg, FFmpegLibraries.version), (.libheif, Libvips.heifVersion),
            (.libjxl, Libvips.jxlVersion),
        ]
        return versions.compactMap { name, version in version.map { CodecLibrary(name, version: $0) } }
            + [HuffmanDecoding.library]
    }

    /// What ``identify(_:order:)`` throws of a source that needs the full decoder set, where the common one was prepared.
    public static let beyondDecoderSet = AttachmentError.codecCrashed(reason: "its decoder isn't loaded")

    /// Looks at a source: with libmagic over its first 64 KiB, then with the decoder that this names.
    ///
    /// Decodes no pixel. Limits, and whether the profile takes the kind, are checked here.
    ///
    /// - Parameter source: Open for reading, at any offset; it must stay open as long as the answer lives.
    public static func identify(_ source: Int32, order: WorkOrder) throws(AttachmentError) -> Identified {
        let watch = Stopwatch()
        let sniffed = try Sniffer.sniff(source)
        try UnsupportedPicture.check(head: sniffed.head)
        guard let format = sniffed.pictureFormat else {
            guard let clip = try Clip.open(source, sniffed: sniffed.type, order: order) else {
                throw .unrecognizedType(sniffed: sniffed.type)
            }
            return try Identified(.clip(clip), order: order, watch: watch)
        }
        let content = try ImageIdentification.open(
            source, format: format, sniffed: sniffed, limits: order.limits, damaged: order.profile.damaged)
        return try Identified(content, order: order, watch: watch)
    }

    /// Makes the renditions of `command.outputs`, smallest first.
    ///
    /// Where the go-ahead's time is up first, the work stops: what was delivered by then is all there is, and no error.
    ///
    /// - Parameters:
    ///   - outputs: An empty file for each rendition, open for writing.
    ///   - deliver: Called when an output is written and no library holds its descriptor; closes it and sends the report.
    public static func render(
        _ source: consuming Identified, command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        WorkTime.begin(secondsLeft: command.secondsLeft)
        defer { WorkTime.begin(secondsLeft: nil) }
        var missing = command.outputs
        var ending = Ending()
        var wasStopped = false
        do {
            ending = try renderInTime(source, command: command, outputs: outputs) { report throws(AttachmentError) in
                try deliver(report)
                missing.removeAll { $0 == report.role }
            }
        } catch {
            guard error == WorkTime.failure else { throw error }
            wasStopped = true
        }
        if wasStopped || WorkTime.isUp {
            for role in missing where ending.omissions[role] == nil { ending.omissions[role] = .timeUp }
        }
        return ending
    }

    private static func renderInTime(
        _ source: consuming Identified, command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let order = source.order
        switch consume source.content {
        case .still(let still):
            return try StillRendering(order: order, command: command, outputs: outputs).run(still, deliver)
        case .animation(let animation):
            return try AnimationRendering(order: order, command: command, outputs: outputs).run(animation, deliver)
        case .clip(var clip):
            return try clip.render(command: command, outputs: outputs, deliver: deliver)
        }
    }
}

/// A source whose decoder is known and has read its header.
public struct Identified: ~Copyable {
    /// What the source is.
    public let probeResult: ProbeResult
    let order: WorkOrder
    let content: Content

    /// Who decodes it.
    enum Content: ~Copyable {
        case still(StillSource)
        case animation(AnimationSource)
        case clip(Clip)
    }

    init(_ content: consuming Content, order: WorkOrder, watch: Stopwatch) throws(AttachmentError) {
        var probeResult =
            switch content {
            case .still(let still): still.probeResult(for: order)
            case .animation(let animation): try animation.probeResult(for: order)
            case .clip(let clip): clip.probeResult
            }
        guard order.profile.accepts(probeResult.kind) else {
            throw .unacceptedKind(kind: probeResult.kind, profile: order.profile.name)
        }
        probeResult.seconds = watch.seconds
        self.probeResult = probeResult
        self.order = order
        self.content = content
    }
}
