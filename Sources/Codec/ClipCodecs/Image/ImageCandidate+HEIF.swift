import CHEIF
import SatchelCore
import StillCodecs

extension ImageCandidate {
    /// An animation where it is what the file is for, else its primary picture; libheif knows items only.
    func heif() throws(AttachmentError) -> Identified.Content {
        var losses: [Loss] = []
        var notes: [String] = []
        switch try openSequence() {
        case .animation(let animation): return .animation(animation)
        case .still(let lost, let left): (losses, notes) = (lost, left)
        }
        let bytes = try bytes()
        let turns = try unsafe bytes.withMutableBytes { (bytes) throws(AttachmentError) in
            unsafe MultiPicture.encloseAppended(in: bytes)
            unsafe HEIFTurns.sort(in: bytes)
            return try unsafe HEIFTurns.take(from: bytes)
        }
        var still: StillSource
        do {
            still = try self.still(bytes, losses: losses)
        } catch {
            let feature = NewerFeature.newestHEIC
            let library = CodecLibrary(.libheif, version: unsafe String(cString: heif_get_version()))
            guard error == feature.refusal, library.isAtLeast(feature.since) else { throw error }
            throw .corrupt(reason: "its items refer to others that aren't there")
        }
        if turns != 1 { still.facts.orientation = turns }
        still.facts.notes += notes
        return .still(still)
    }

    /// What a file holds besides its picture.
    private enum Opened: ~Copyable {
        case animation(AnimationSource)
        /// Nothing that is to be shown: only the picture; with what is lost by that, or left out.
        case still(_ losses: [Loss] = [], notes: [String] = [])
    }

    /// Takes an AVIF or HEIF whose tracks are what it is for, by its first brand or because nothing else is in it. Checks
    /// limits.
    private func openSequence() throws(AttachmentError) -> Opened {
        let bytes = try bytes()
        guard let tracks = unsafe bytes.withBytes({ unsafe PictureTracks($0) }) else { return .still() }
        let announced = tracks.colour.samples
        guard tracks.isMeant || !tracks.hasPrimary else {
            guard announced > 1 else { return .still() }
            return .still(notes: ["its sequence of \(announced) frames, as its first brand is a still's"])
        }
        guard announced > 1 || !tracks.hasPrimary else { return .still() }
        guard announced <= bytes.count else {
            let claim = "its header announces \(announced) frames, more than its \(bytes.count) bytes can hold"
            guard tracks.hasPrimary else { throw .corrupt(reason: claim) }
            return .still([Loss("its animation", because: claim)])
        }
        guard let reader = try SequenceReader.open(descriptor, tracks: tracks, limits: limits) else {
            guard tracks.hasPrimary else {
                throw .unsupportedFeature(
                    reason: "the coding of its pictures is not taken", advice: "Convert it to AVIF, or to a video.")
            }
            return .still([Loss("its animation of \(announced) frames", because: "their coding is not taken")])
        }
        let missing = max(0, announced - reader.moments.count)
        guard !reader.moments.isEmpty else { throw .corrupt(reason: "the file ends before its first frame") }
        let facts = AnimationFacts(
            type: PictureFormat.heif.typesByCoding[reader.codec] ?? .heif, sniffedType: sniffed.type,
            size: reader.size, delays: reader.delays, plays: tracks.colour.plays,
            bytes: bytes.count, missing: missing,
            missingReason: missing > 0 ? "the file ends before or within them" : "")
        let source = SequenceSource(descriptor: descriptor, limits: limits, tracks: tracks)
        return .animation(AnimationSource(facts: facts, reader: source))
    }
}
