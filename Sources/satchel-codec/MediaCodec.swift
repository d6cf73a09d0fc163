import Attachments
import Codecs
import Confinement

/// The codecs, as a confined process runs them: one source at a time.
struct MediaCodec: ConfinedCodec, ~Copyable {
    private var identified: Identified?

    mutating func prepare(_ invocation: CodecInvocation) throws(AttachmentError) {
        try Codec.prepare(invocation.decoderSet, fastHuffman: invocation.fastHuffman)
    }

    var libraries: [CodecLibrary] { Codec.libraries }

    mutating func identify(source: Int32, order: WorkOrder) throws(Unidentified) -> ProbeResult {
        do throws(AttachmentError) {
            let source = try Codec.identify(source, order: order)
            let probeResult = source.probeResult
            identified = consume source
            return probeResult
        } catch {
            throw error == Codec.beyondDecoderSet ? .beyondDecoderSet : .refused(error)
        }
    }

    mutating func render(
        _ command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        guard let source = identified.take() else {
            throw .codecCrashed(reason: "asked to render before it identified")
        }
        return try Codec.render(source, command: command, outputs: outputs, deliver: deliver)
    }

    mutating func forget() {
        identified = nil
    }
}
