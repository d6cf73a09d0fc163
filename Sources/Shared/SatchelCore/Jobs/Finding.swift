/// One thing that was found of a file, left out of it or lost: a code with its numbers, without words.
///
/// ``Finding/text`` and ``Finding/refusal`` say it in English.
public struct Finding: Hashable, Sendable, Codable {
    /// What is the matter, or why something is missing.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// The file ends before what its header announces; `total` is announced, `missing` of it isn't there.
        case endsBefore = "ends_before"
        /// The file ends within what `name` says, and how much came after is unknown; `total` is there.
        case endsWithin = "ends_within"
        /// The data ends before the announced rows, and something else follows it.
        case dataEndsEarly = "data_ends_early"
        /// Nothing but zeros up to the end.
        case zeros
        case checksumDiffers = "checksum_differs"
        case announcesMore = "announces_more"
        case endMarkMissing = "end_mark_missing"
        case indexMissing = "index_missing"
        /// A header of `total` bytes, and nothing that it is a header of.
        case nothingInside = "nothing_inside"
        /// The whole file has `total` bytes.
        case tooSmall = "too_small"
        case lineEndsChanged = "line_ends_changed"
        case highBitsLost = "high_bits_lost"
        case bytesReplaced = "bytes_replaced"
        case bytesRecoded = "bytes_recoded"
        /// A decoder gave nothing for it.
        case notDecoded = "not_decoded"
        /// Parts of the file contradict each other or the format.
        case malformed
        case configurationMissing = "configuration_missing"
        case noKeyframe = "no_keyframe"
        /// `total` bytes of data that say nothing.
        case bytesLeftOver = "bytes_left_over"
        /// `missing` frames have the time of another one.
        case repeatedTimes = "repeated_times"
        /// Nothing in `missing` seconds within the file.
        case gap
        /// It begins after `missing` seconds, and the part that is wanted ends after `total`.
        case startsAfter = "starts_after"
        /// Its coding, `name`, is not supported.
        case notSupported = "not_supported"
        case notMixed = "not_mixed"
        /// Making it failed with the error code `name`.
        case failed
        /// The profile accepts no more.
        case limit
        /// The profile, or the format that is written, has no place for it.
        case leftOut = "left_out"
        /// One of `total` was taken: number `total` - `missing`.
        case oneTaken = "one_taken"
        case mixedDown = "mixed_down"
        /// Frames were merged with others, as `name` shows none for so short a time.
        case merged
        /// Seconds: the result plays for `missing`, and the source for `total`.
        case delaysChanged = "delays_changed"
        /// Times: from `missing` on the pictures have the size `name`, not that of the first.
        case sizeChanges = "size_changes"
        case profileLeftOut = "profile_left_out"
        case profileAssumed = "profile_assumed"
        case clipped
        /// Seconds: the header announces `missing`, and the file holds `total`.
        case otherLength = "other_length"
        /// Frame `missing` was asked for, and frame `total` was taken.
        case otherFrame = "other_frame"
        /// Bytes: it needs `missing`, and `total` were granted.
        case memory
        case shownOtherwise = "shown_otherwise"
        /// Times: it was expected to take `missing`, and `total` were left.
        case estimate
        /// Times: its decoding showed that it needs `missing` more, and `total` were left.
        case pace
        case timeUp = "time_up"
        case notMade = "not_made"
    }

    /// What it is about.
    public enum Part: String, Hashable, Sendable, Codable, CaseIterable {
        case rows
        /// All rows are there, but without the detail of later scans.
        case detail
        case frames
        /// Amounts are seconds.
        case sound, video
        case picture
        case soundTracks = "sound_tracks"
        case videoTracks = "video_tracks"
        case channels, subtitles, pages, pictures, recordings, transparency, animation
        /// The video of a picture that moves.
        case motion
        case gainMap = "gain_map"
        /// Light brighter than the white of a standard screen, by PQ or HLG.
        case hdr
        case cover
        /// How often an animation plays.
        case plays
        /// What the profile's speed `best` asks for.
        case speed
        case main, thumbnail, poster, waveform

        /// What a track of this kind holds.
        package init(_ kind: Diagnosis.Track.Kind) {
            switch kind {
            case .video: self = .video
            case .audio: self = .sound
            case .subtitles: self = .subtitles
            }
        }
    }

    public var code: Code
    @Nullable public var part: Part?
    @Nullable public var missing: Double?
    @Nullable public var total: Double?
    /// A format, a coding or a place in the file.
    @Nullable public var name: String?
    /// The library that found it, with its version.
    @Nullable public var library: String?

    public init(
        _ code: Code, _ part: Part? = nil, missing: Double? = nil, of total: Double? = nil, named name: String? = nil,
        by library: String? = nil
    ) {
        self.code = code
        self.part = part
        self.missing = missing
        self.total = total
        self.name = name
        self.library = library
    }

    /// A finding about things that are counted.
    public init(_ code: Code, _ part: Part, missing: Int, of total: Int, named name: String? = nil) {
        self.init(code, part, missing: Double(missing), of: Double(total), named: name)
    }

    /// A finding about a rendition.
    public init(_ code: Code, _ role: RenditionRole, missing: Double? = nil, of total: Double? = nil) {
        self.init(code, Part(rawValue: role.rawValue), missing: missing, of: total)
    }

    /// The share that may be missing before a file is refused: few people would notice less.
    public static let tolerance = 0.02

    /// More than this share is missing only in a file that the sender would want to send again.
    public var isTolerable: Bool { (missing ?? 0) <= (total ?? 0) * Self.tolerance }

    /// This finding as a loss, where the rest is delivered; nil where nothing is missing.
    ///
    /// - Throws: ``AttachmentError/unreadable(_:)`` where more than ``tolerance`` is missing and the profile doesn't salvage.
    public func loss(when damaged: WhenDamaged) throws(AttachmentError) -> Finding? {
        guard let missing, missing > 0 else { return nil }
        guard isTolerable || damaged == .salvage else { throw .unreadable(self) }
        return self
    }

    /// Whether amounts are finite, not negative and no more than the whole.
    public var isPlausible: Bool {
        [missing, total].allSatisfy { $0.map { $0.isFinite && $0 >= 0 } ?? true }
    }
}

/// What a file is, what was checked of it, and what was found, left out and lost.
public struct Diagnosis: Hashable, Sendable, Codable {
    /// How far the file was read.
    public enum Check: String, Hashable, Sendable, Codable { case headers, structure, decoded }

    /// A stream of a container.
    public struct Track: Hashable, Sendable, Codable {
        public enum Kind: String, Hashable, Sendable, Codable { case video, audio, subtitles }

        public var kind: Kind
        public var coding: String
        @Nullable public var channels: Int?
        @Nullable public var language: String?

        /// - Parameters:
        ///   - channels: 0 for none.
        ///   - language: As the container says: `eng`; dropped where it isn't in letters.
        public init(_ kind: Kind, coding: String, channels: Int = 0, language: String? = nil) {
            self.kind = kind
            self.coding = coding
            self.channels = channels > 0 ? channels : nil
            let letters = language?.lowercased() ?? ""
            let isPlain = letters.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") }
            self.language = (2...8).contains(letters.count) && isPlain && letters != "und" ? letters : nil
        }
    }

    public var checked: Check
    public var tracks: [Track]
    /// Pages of a document, or pictures of a collection.
    @Nullable public var pages: Int?
    public var hasTransparency: Bool
    /// Seconds that the header of a truncated file announces.
    @Nullable public var announced: Double?
    /// What is the matter with the file, be anything lost by it or not.
    public var evidence: [Finding]
    /// What the profile, or the format that is written, leaves out.
    public var omissions: [Finding]
    /// What the profile asks for and the delivered files lack.
    public var losses: [Finding]
    /// What is otherwise than in the file, or than the profile asks for, although nothing is missing.
    public var changes: [Finding]

    public init(
        checked: Check = .headers, tracks: [Track] = [], pages: Int? = nil, hasTransparency: Bool = false,
        announced: Double? = nil, evidence: [Finding] = [], omissions: [Finding] = [], losses: [Finding] = [],
        changes: [Finding] = []
    ) {
        self.checked = checked
        self.tracks = tracks
        self.pages = pages
        self.hasTransparency = hasTransparency
        self.announced = announced
        self.evidence = evidence
        self.omissions = omissions
        self.losses = losses
        self.changes = changes
    }

    /// Takes note of seconds in which a track has nothing; only the first such of a kind counts.
    package mutating func note(gap seconds: Double, in kind: Track.Kind, of total: Double) {
        let gap = Finding(.gap, Finding.Part(kind), missing: min(seconds, total), of: total)
        if seconds > 0, !evidence.contains(where: { $0.code == .gap && $0.part == gap.part }) { evidence.append(gap) }
    }

    /// This diagnosis of a file's headers, with what decoding it found.
    public func decoded(_ found: Diagnosis) -> Diagnosis {
        var (all, found) = (self, found)
        // A loss tells of it already.
        if losses.contains(where: { $0.code == .gap }) { found.evidence.removeAll { $0.code == .gap } }
        all.checked = .decoded
        for path in [\Diagnosis.evidence, \.omissions, \.losses, \.changes] {
            all[keyPath: path] += found[keyPath: path].filter { !all[keyPath: path].contains($0) }
        }
        return all
    }
}
