import CFFmpeg
import CHEIF
import SatchelCore
import StillCodecs

extension ImageCandidate {
    /// An animation where it is what the file is for, else its primary picture; libheif knows items only.
    func heif() throws(AttachmentError) -> Identified.Content {
        var losses: [Finding] = []
        var omissions: [Finding] = []
        switch try openSequence() {
        case .animation(let animation): return .animation(animation)
        case .still(let lost, let left): (losses, omissions) = (lost, left)
        }
        let bytes = try bytes()
        let turns = try unsafe bytes.withMutableBytes { (bytes) throws(AttachmentError) in
            unsafe MultiPicture.encloseAppended(in: bytes)
            unsafe HEIFTurns.sort(in: bytes)
            return try unsafe HEIFTurns.take(from: bytes)
        }
        let bitstream = unsafe bytes.withBytes { unsafe HEIFProperties($0) }.bitstream
        // HEVC's begins with its version, and no data of AV1 with this byte.
        let codec = bitstream?.first == 1 ? AV_CODEC_ID_HEVC : AV_CODEC_ID_AV1
        let unboxed = bitstream.flatMap { Decoder.colour(codec, configuration: $0) }
        var still: StillSource
        do {
            still = try self.still(bytes, losses: losses, unboxed: unboxed)
        } catch {
            let feature = NewerFeature.newestHEIC
            let library = CodecLibrary(.libheif, version: unsafe String(cString: heif_get_version()))
            guard error == feature.refusal, library.isAtLeast(feature.since) else { throw error }
            throw .unreadable(Finding(.malformed, .picture, named: "list of pictures"))
        }
        if turns != 1 { still.facts.orientation = turns }
        still.facts.found.omissions += omissions
        return .still(still)
    }

    /// What a file holds besides its picture.
    private enum Opened: ~Copyable {
        case animation(AnimationSource)
        /// Nothing that is to be shown: only the picture; with what is lost by that, or left out.
        case still(_ losses: [Finding] = [], omissions: [Finding] = [])
    }

    /// Takes an AVIF or HEIF whose tracks are what it is for, by its first brand or because nothing else is in it. Checks
    /// limits.
    private func openSequence() throws(AttachmentError) -> Opened {
        let bytes = try bytes()
        guard let tracks = unsafe bytes.withBytes({ unsafe PictureTracks($0) }) else { return .still() }
        let announced = tracks.colour.samples
        guard tracks.isMeant || !tracks.hasPrimary else {
            guard announced > 1 else { return .still() }
            return .still(omissions: [Finding(.leftOut, .animation, named: "a still")])
        }
        guard announced > 1 || !tracks.hasPrimary else { return .still() }
        guard announced <= bytes.count else {
            let claim = Finding(.announcesMore, .animation, of: Double(announced))
            guard tracks.hasPrimary else { throw .unreadable(claim) }
            return .still([claim])
        }
        guard let reader = try SequenceReader.open(descriptor, tracks: tracks, limits: limits) else {
            guard tracks.hasPrimary else { throw .unsupported(.sequence) }
            return .still([Finding(.notSupported, .animation, named: "its coding")])
        }
        let missing = max(0, announced - reader.moments.count)
        guard !reader.moments.isEmpty else { throw .unreadable(Finding(.endsBefore, named: "first frame")) }
        let hasGainMap = unsafe bytes.withBytes { unsafe GainMap.isIn($0, .heif) }
        let facts = AnimationFacts(
            type: PictureFormat.heif.typesByCoding[reader.codec] ?? .heif, sniffedType: sniffed.type,
            size: reader.size, delays: reader.delays, plays: tracks.colour.plays, bytes: bytes.count, missing: missing,
            missingCode: .endsBefore,
            omissions: reader.isHDR ? [.hdr] : hasGainMap ? [.gainMap] : [])
        let source = SequenceSource(descriptor: descriptor, limits: limits, tracks: tracks)
        return .animation(AnimationSource(facts: facts, reader: source))
    }
}
