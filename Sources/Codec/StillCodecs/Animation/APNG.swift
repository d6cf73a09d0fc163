import SatchelCore

/// What a PNG holds besides its picture.
enum APNG {
    case animation(AnimationFacts, damaged: Set<Int>)
    /// Nothing that is to be shown: only the picture; with what is lost by that.
    case still([Finding] = [])

    /// Takes a PNG whose header announces more than one frame. Checks limits.
    ///
    /// What is wrong with the chunks of an animation leaves the still, as the specification has it; so does an end before most
    /// frames are there, unless the profile salvages.
    static func open(_ image: ImageCandidate) throws(AttachmentError) -> APNG {
        let (descriptor, limits) = (image.descriptor, image.limits)
        let count = try fileBytes(descriptor)
        guard StillHeader.apng(descriptor, bytes: count) != nil else { return .still() }
        guard count <= limits.imageBytes else { throw .sourceTooLarge(bytes: count, limit: limits.imageBytes) }
        guard let chunks = APNGChunks(try readBytes(descriptor, count: Int(count))) else { return .still() }
        if let fault = chunks.fault { return .still([fault]) }
        guard chunks.announced > 1 else { return .still() }
        guard !chunks.blendsDeeply else { throw .unsupported(.deepAPNG) }
        var facts = AnimationFacts(
            type: .png, sniffedType: image.sniffed.type, size: chunks.size,
            delays: AnimationFacts.shown(Array(chunks.delays.prefix(chunks.whole))), plays: chunks.plays,
            bytes: Int(count), missing: chunks.announced - chunks.whole)
        if facts.missing > 0 {
            facts.missingCode = chunks.isUnmarked ? .endsBefore : .announcesMore
        } else if chunks.isUnmarked {
            facts.evidence.append(Finding(.endMarkMissing))
        } else if !chunks.damaged.isEmpty {
            facts.missingCode = .checksumDiffers
        }
        let defect = FrameDefects(of: facts, when: image.damaged).defect
        guard facts.frames > 0, defect.isTolerable || image.damaged == .salvage else {
            return .still([Finding(defect.code, .animation, missing: defect.missing, of: defect.total)])
        }
        // The rest isn't read: texts take long.
        let bytes = try image.bytes()
        try unsafe bytes.withMutableBytes { unsafe PNGChunks.dropTexts(in: $0) }
        if let header = try? bytes.load(.png) {
            let coded = unsafe bytes.withBytes { unsafe PNGChunks.colour(in: $0) }
            facts.colours = FrameColours(header, coded: coded)
        }
        try AnimationFacts.check(frames: facts.frames, size: facts.size, limits: limits)
        return .animation(facts, damaged: chunks.damaged)
    }
}
