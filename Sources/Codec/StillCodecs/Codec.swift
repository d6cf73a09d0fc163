public import SatchelCore

/// What an executable does with a source: looks at it, then makes renditions of it, by the coders that it has.
///
/// A table in which each coder is bound to what it is for: ``stills`` is the smaller executable's, and `ClipCodecs` binds what
/// needs FFmpeg, libheif or libjxl. What isn't in it is for the other executable.
///
/// Synchronous from top to bottom, and for one source at a time: libvips' errors and FFmpeg's log are global.
public struct Codec: Sendable {
    /// Nil where no demuxer and decoder agree that it is sound or video.
    package typealias ClipOpener = @Sendable (Int32, String, WorkOrder) throws(AttachmentError) -> (any OpenedClip)?

    /// Prepared one after the other.
    package var linked: [LinkedLibrary]
    /// By the format that libmagic names.
    package var images: [PictureFormat: ImageOpener]
    /// By what is written; there are none where no opener gives animations.
    package var animations: [MediaType: AnimationWriter]
    package var clips: ClipOpener?

    package init(
        linked: [LinkedLibrary], images: [PictureFormat: ImageOpener], animations: [MediaType: AnimationWriter] = [:],
        clips: ClipOpener? = nil
    ) {
        self.linked = linked
        self.images = images
        self.animations = animations
        self.clips = clips
    }

    /// JPEG, PNG, WebP and TIFF, as stills.
    public static let stills = Codec(
        linked: [.libvips(reading: PictureFormat.all.filter { $0.needs == .common })],
        images: [
            .jpeg: ImageOpener { image throws(AttachmentError) in .still(try image.jpeg()) },
            .png: ImageOpener { image throws(AttachmentError) in
                try image.png { _, _ throws(AttachmentError) in throw beyondDecoderSet }
            },
            .webp: ImageOpener { image throws(AttachmentError) in
                try image.webp { _ throws(AttachmentError) in throw beyondDecoderSet }
            },
            .tiff: ImageOpener { image throws(AttachmentError) in .still(try image.tiff()) },
        ])

    /// What writes animations without FFmpeg.
    package static let animationWriters: [MediaType: AnimationWriter] = [
        .gif: AnimationWriter { task, frames, file throws(AttachmentError) in
            let gif = AnimatedGIF(task)
            return try task.isBest ? gif.writeByLibvips(frames, to: file) : gif.write(frames, to: file)
        },
        .webp: AnimationWriter { task, frames, file throws(AttachmentError) in
            try AnimatedWebP(facts: task.facts, attempt: task.attempt, isBest: task.isBest).write(frames, to: file)
        },
    ]

    /// What ``identify(_:order:)`` throws of a source that only the other executable can take.
    public static let beyondDecoderSet = AttachmentError.codecCrashed(reason: "its decoder isn't there")

    /// Initialises the libraries; in the zygote, once. Checks our decoder of Huffman codes, where it may be used.
    ///
    /// Loads all modules and tables, so that nothing is opened later. Never runs a pipeline, which would start threads.
    ///
    /// - Throws: ``AttachmentError/codecCrashed(reason:)`` where a library or a decoder of this list is missing.
    public func prepare(fastHuffman: Bool = true) throws(AttachmentError) {
        for library in linked { try library.prepare() }
        try Sniffer.prepare()
        HuffmanDecoding.prepare(isAllowed: fastHuffman)
        StillPrewarming.run()
    }

    /// What is linked and says its version.
    public var libraries: [CodecLibrary] {
        linked.map { CodecLibrary($0.name, version: $0.version()) } + [HuffmanDecoding.library]
    }

    /// Looks at a source: with libmagic over its first 64 KiB, then with the decoder that this names.
    ///
    /// Decodes no pixel. Limits, and whether the profile takes the kind, are checked here.
    ///
    /// - Parameter source: Open for reading, at any offset; it must stay open as long as the answer lives.
    public func identify(_ source: Int32, order: WorkOrder) throws(AttachmentError) -> Identified {
        let watch = Stopwatch()
        let sniffed = try Sniffer.sniff(source)
        if let foreign = ForeignFormat(head: sniffed.head) { throw foreign.refusal }
        try TextTransfer.check(sniffed)
        try UnsupportedPicture.check(head: sniffed.head)
        guard let format = sniffed.pictureFormat else {
            guard let clips else { throw Self.beyondDecoderSet }
            guard let clip = try clips(source, sniffed.type, order) else {
                throw ForeignFormat.refusal(sniffed: sniffed.type)
            }
            return try Identified(.clip(clip), order: order, watch: watch)
        }
        guard let opener = images[format] else { throw Self.beyondDecoderSet }
        let image = ImageCandidate(
            descriptor: source, format: format, sniffed: sniffed, limits: order.limits,
            damaged: order.profile.damaged)
        return try Identified(try opener.open(image), order: order, watch: watch)
    }

    /// Makes the renditions of `command.outputs`, smallest first.
    ///
    /// Where the render command's time is up first, the work stops: what was delivered by then is all there is, and no error.
    ///
    /// - Parameters:
    ///   - outputs: An empty file for each rendition, open for writing.
    ///   - deliver: Called when an output is written and no library holds its descriptor; closes it and sends the report.
    public func render(
        _ source: consuming Identified, command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        WorkTime.begin(secondsLeft: command.secondsLeft)
        defer { WorkTime.begin(secondsLeft: nil) }
        let headers = source.probeResult.diagnosis
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
            let told = ending.diagnosis.losses.compactMap(\.part?.rawValue)
            ending.diagnosis.losses += missing.filter { !told.contains($0.rawValue) }.map { Finding(.timeUp, $0) }
        }
        ending.diagnosis = headers.decoded(ending.diagnosis)
        return ending
    }

    private func renderInTime(
        _ source: borrowing Identified, command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let order = source.order
        switch source.content {
        case .still(let still):
            return try StillRendering(order: order, command: command, outputs: outputs).run(still, deliver)
        case .animation(let animation):
            return try AnimationRendering(order: order, command: command, outputs: outputs, writers: animations)
                .run(animation, deliver)
        case .clip(let clip):
            return try clip.render(command: command, outputs: outputs, deliver: deliver)
        }
    }
}

/// Opens what libmagic takes for an image of one format.
package struct ImageOpener: Sendable {
    package typealias Open = @Sendable (ImageCandidate) throws(AttachmentError) -> Identified.Content

    let open: Open

    package init(_ open: @escaping Open) {
        self.open = open
    }
}

/// Writes animations of one type.
package struct AnimationWriter: Sendable {
    package typealias Write = @Sendable (AnimationTask, ScaledFrames, Int32) throws(AttachmentError) -> Encoded

    let write: Write

    package init(_ write: @escaping Write) {
        self.write = write
    }
}

/// A library that coders call.
package struct LinkedLibrary: Sendable {
    package var name: CodecLibrary.Name
    package var version: @Sendable () -> String
    /// Initialises it, once; starts no thread.
    package var prepare: @Sendable () throws(AttachmentError) -> Void = {}

    package init(
        _ name: CodecLibrary.Name, version: @escaping @Sendable () -> String,
        prepare: @escaping @Sendable () throws(AttachmentError) -> Void = {}
    ) {
        self.name = name
        self.version = version
        self.prepare = prepare
    }
}

/// A sound or a video that was opened.
package protocol OpenedClip: AnyObject {
    var probeResult: ProbeResult { get }

    func render(
        command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending
}

/// A source whose decoder is known and has read its header.
public struct Identified: ~Copyable {
    /// What the source is.
    public let probeResult: ProbeResult
    let order: WorkOrder
    let content: Content

    package enum Content: ~Copyable {
        case still(StillSource)
        case animation(AnimationSource)
        case clip(any OpenedClip)
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
