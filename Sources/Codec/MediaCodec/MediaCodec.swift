public import SatchelCore
public import Confinement
public import StillCodecs

/// A codec as a confined process runs it: one source at a time.
public struct MediaCodec: ConfinedCodec, ~Copyable {
    private let codec: Codec
    private var identified: Identified?

    /// Runs `codec` as the program that it is the codec of; ends the program.
    public static func run(_ codec: Codec) -> Never {
        Confinement.run(MediaCodec(codec: codec), arguments: CommandLine.arguments.dropFirst().map(\.self))
    }

    public mutating func prepare(_ invocation: CodecInvocation) throws(AttachmentError) {
        try codec.prepare(fastHuffman: invocation.fastHuffman)
    }

    public var libraries: [CodecLibrary] { codec.libraries }

    public mutating func identify(source: Int32, order: WorkOrder) throws(Unidentified) -> ProbeResult {
        do throws(AttachmentError) {
            let source = try codec.identify(source, order: order)
            let probeResult = source.probeResult
            identified = consume source
            return probeResult
        } catch {
            throw error == Codec.beyondDecoderSet ? .beyondDecoderSet : .refused(error)
        }
    }

    public mutating func render(
        _ command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        guard let source = identified.take() else {
            throw .codecCrashed(reason: "asked to render before it identified")
        }
        return try codec.render(source, command: command, outputs: outputs, deliver: deliver)
    }

    public mutating func forget() {
        identified = nil
    }
}
