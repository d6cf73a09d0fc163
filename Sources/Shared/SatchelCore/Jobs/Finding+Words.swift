/// The English words for findings: the one table from which every message, table and page takes them.
extension Finding {
    /// A row of ``Finding/Code/words``.
    struct Words {
        /// How the refusal of a file begins.
        enum Opening { case truncated, damaged, changed, empty, undecoded }

        /// Nil of what no file is refused for.
        var opening: Opening?
        /// Why something is missing or what was found: a clause in which `…` stands for the name.
        var cause: String

        init(_ opening: Opening, _ cause: String) { (self.opening, self.cause) = (opening, cause) }

        init(_ cause: String) { self.cause = cause }
    }

    /// What and why, as records list it: `3 of 900 rows: the file ends within them`.
    public var text: String {
        switch code {
        case .oneTaken: "\(phrase)\(name.map { " (\($0))" } ?? ""): the others were left out"
        case .limit: "\(phrase): the profile accepts no more"
        case .mixedDown: "\(phrase): players mix more anyway"
        default: part == nil ? cause : "\(what): \(cause)"
        }
    }

    /// What is missing, with amounts where they are known.
    public var what: String {
        let (missing, total) = amounts
        switch (part, missing, total) {
        case (nil, _, _): return "something"
        case (.frames, let missing?, let total?) where code == .endsWithin:
            return missing == "1"
                ? "frame \(total) and all after it" : "\(missing) of the first \(total) frames and all after them"
        case (.detail, let missing?, let total?): return "the detail of \(missing) of \(total) rows"
        case (let part?, let missing?, let total?): return "\(missing) of \(total)\(part.isTimed ? " of" : "") \(part.many)"
        case (let part?, nil, let total?) where code == .endsWithin && part.isTimed: return "\(part.many) after \(total)"
        case (let part?, _, _): return part.many
        }
    }

    /// Why, as a clause.
    public var cause: String {
        let (missing, total) = amounts
        return switch code {
        case .estimate: "an estimated \(missing ?? "") were more than the \(total ?? "") left"
        case .pace: "at full effort \(missing ?? "") more were needed, and \(total ?? "") were left"
        case .startsAfter: "it begins at \(missing ?? ""), and the part ends at \(total ?? "")"
        case .bytesLeftOver: "\(total ?? "some") bytes of its data are left over: parts of it may look wrong"
        case .repeatedTimes: "\(missing ?? "some") frames have the same time as others and are not shown"
        default: code.words.cause.replacing("…", with: name ?? "data")
        }
    }

    /// What the sender of a file is told that was refused for this.
    public var refusal: String {
        let (missing, total) = amounts
        let advice: String
        var sentence: String
        switch code.words.opening {
        case .truncated:
            advice = "Send it again, whole."
            if part?.isTimed == true, missing != nil, let total, let present = self.total.map({ $0 - (self.missing ?? 0) }) {
                sentence =
                    "The file is truncated: its header announces \(total), and only the first \(Self.time(present)) are there."
            } else {
                sentence = "The file is truncated: \(missing == nil ? cause : "\(what) \(verb) missing")."
            }
        case .damaged:
            sentence = "The file is damaged: \(missing == nil ? "" : "\(what) \(verb) missing, because ")\(cause)."
            advice = "Send it again from the original."
        case .changed:
            sentence = "The file was changed on its way: \(cause)."
            advice = "Send it again as a file, not as text."
        case .empty:
            sentence =
                code == .tooSmall
                ? "This file has \(total ?? "few") bytes, too few for a picture, sound or video."
                : "The file has a header of \(total ?? "some") bytes, and nothing behind it."
            advice = "Get the file again from where it came from."
        case .undecoded, nil:
            let found = library.map { " (\($0))" } ?? ""
            sentence = missing == nil ? "Satchel could not read this \(thing)\(found)" : "Satchel could not decode \(what)\(found)"
            sentence += code == .notDecoded ? "." : ": \(cause)."
            let other = part?.isHeard == true ? "M4A or MP3" : part?.isMoving == true ? "MP4" : "JPEG or PNG"
            return sentence + rule
                + " It may well be whole: if it opens elsewhere, save it as \(other) and send that. Sending it again won't help."
        }
        return "\(sentence)\(rule) \(advice)"
    }

    /// What a person reads in a table of results: `page 1 of 1000`, `without sound`, `damaged: 285 of 300 rows`.
    public var phrase: String {
        let (_, total) = amounts
        let present = self.total.map { max(0, $0 - (missing ?? 0)) }
        switch (code, part) {
        case (.limit, _): return "first \(Self.clock(present ?? 0)) of \(Self.clock(self.total ?? 0))"
        case (.oneTaken, let part?): return "\(part.one) \(Self.count(present ?? 1)) of \(total ?? "several")"
        case (.mixedDown, _): return "\(total ?? "more") channels mixed to 2"
        case (.endsWithin, .sound?), (.endsWithin, .video?): return "damaged: ends at \(Self.clock(self.total ?? 0))"
        case (.gap, let part?) where missing != nil && self.total != nil:
            return "\(Self.clock(missing ?? 0)) of \(Self.clock(self.total ?? 0)) without \(part.bare)"
        case (.estimate, _), (.pace, _), (.timeUp, _), (.lessEffort, _), (.notMade, _):
            return "without \(part?.many ?? "a part")"
        case (_, let part?) where missing != nil && self.total != nil && part != .channels:
            let amount = part.isTimed ? Self.clock(present ?? 0) : Self.count(present ?? 0)
            let whole = part.isTimed ? Self.clock(self.total ?? 0) : total ?? ""
            return "damaged: \(amount) of \(whole)\(part.isTimed ? "" : " \(part.many)")"
        case (_, let part?): return "without \(part.bare)"
        case (_, nil): return cause
        }
    }

    /// The amounts as texts that differ where the amounts do.
    private var amounts: (missing: String?, total: String?) {
        let isTime = part?.isTimed == true || [.estimate, .pace, .startsAfter].contains(code)
        guard isTime else { return (missing.map(Self.count), total.map(Self.count)) }
        guard let missing, let total, missing != total, Self.time(missing) == Self.time(total) else {
            return (missing.map { Self.time($0) }, total.map { Self.time($0) })
        }
        return (Self.time(missing, decimals: 4), Self.time(total, decimals: 4))
    }

    private var verb: String { missing == 1 || part == .detail ? "is" : "are" }

    /// `AVIF picture`.
    private var thing: String { [name, part.map { $0.isTimed ? $0.bare : "picture" } ?? "file"].compactMap(\.self).joined(separator: " ") }

    /// The rule by which a part of a file isn't delivered, and the way around it.
    private var rule: String {
        guard let missing, missing > 0, total != nil, !isTolerable else { return "" }
        return " More than 2 % of the file is missing, so it was not delivered. Profiles with 'damaged: salvage' deliver the rest."
    }

    /// At most what a number of frames or rows can be.
    private static func count(_ value: Double) -> String { String(Int64(clampingTo: min(max(value, 0), 1e15))) }

    /// `40 ms`, `2.05 s`, `8 min 32 s`, `2 h 5 min`; at most 1,000 hours.
    static func time(_ seconds: Double, decimals: Int = 2) -> String {
        let seconds = seconds.isNaN ? 0 : min(max(seconds, 0), 3.6e6)
        let whole = Int(seconds.rounded())
        if seconds >= 3600 { return "\(whole / 3600) h \(whole % 3600 / 60) min" }
        if seconds >= 60 { return "\(whole / 60) min \(whole % 60) s" }
        let scale = decimals == 2 ? 100 : 10_000
        let parts = max(seconds > 0 ? 1 : 0, Int((seconds * Double(scale)).rounded()))
        let digits = String(parts % scale + scale).dropFirst()
        return "\(parts / scale).\(digits) s"
    }

    /// `10 s`, `1:02`, `2:05:00`.
    static func clock(_ seconds: Double) -> String {
        let seconds = seconds.isNaN ? 0 : min(max(seconds, 0), 3.6e6)
        func two(_ number: Int) -> String { "\(number < 10 ? "0" : "")\(number)" }
        let whole = Int(seconds.rounded())
        if whole >= 3600 { return "\(whole / 3600):\(two(whole % 3600 / 60)):\(two(whole % 60))" }
        if whole >= 60 { return "\(whole / 60):\(two(whole % 60))" }
        let tenths = Int((seconds * 10).rounded())
        return tenths % 10 == 0 || tenths >= 100 ? "\(whole) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

extension Finding.Part {
    /// Its amounts are seconds.
    var isTimed: Bool { self == .sound || self == .video }
    var isHeard: Bool { [.sound, .soundTracks, .channels].contains(self) }
    var isMoving: Bool { [.video, .videoTracks, .subtitles, .recordings].contains(self) }

    /// Of one among several, before its number.
    var one: String {
        switch self {
        case .rows, .detail: "row"
        case .frames, .animation: "frame"
        case .soundTracks: "sound track"
        case .videoTracks: "video track"
        case .pages: "page"
        case .recordings: "recording"
        default: "picture"
        }
    }

    /// Behind `3 of 900`, and alone.
    var many: String {
        switch self {
        case .gainMap: "HDR"
        case .motion: "the video beside its picture"
        case .soundTracks: "sound tracks"
        case .videoTracks: "video tracks"
        case .cover: "its cover"
        case .transparency, .animation, .subtitles, .sound, .video: "its \(rawValue)"
        default: rawValue
        }
    }

    /// Behind `without`.
    var bare: String {
        switch self {
        case .motion: "its video"
        case .gainMap: "HDR"
        case .soundTracks: "sound"
        case .videoTracks: "video"
        case .cover: "cover"
        default: rawValue
        }
    }
}

extension Finding.Code {
    /// The cause as documentation lists it.
    public var meaning: String {
        let cause = words.cause.replacing("…", with: "data")
        return cause.prefix(1).uppercased() + cause.dropFirst() + "."
    }

    /// The table: one row for each code.
    var words: Finding.Words {
        typealias Words = Finding.Words
        return switch self {
        case .endsBefore: Words(.truncated, "the file ends before its … is complete")
        case .endsWithin: Words(.truncated, "the file ends within its …, and how much is missing is unknown")
        case .dataEndsEarly: Words(.truncated, "its data ends before them")
        case .zeros: Words(.truncated, "the file holds nothing but zeros from there on")
        case .checksumDiffers: Words(.damaged, "a checksum of its … is wrong")
        case .announcesMore: Words(.damaged, "its header announces more than the file holds")
        case .endMarkMissing: Words(.damaged, "the file has no end mark, as some programs leave it out")
        case .indexMissing: Words(.damaged, "its index is missing, without which nothing of it can be decoded")
        case .nothingInside: Words(.empty, "the file has a header and nothing else")
        case .tooSmall: Words(.empty, "the file is too small")
        case .lineEndsChanged: Words(.changed, "its line ends were changed, as a transfer of text does")
        case .highBitsLost: Words(.changed, "the highest bit of its bytes was left out, as a transfer of text does")
        case .bytesReplaced: Words(.changed, "it was read as text, which put question marks in the place of most of its bytes")
        case .bytesRecoded: Words(.changed, "it was read as text, which wrote two or three bytes in the place of one")
        case .notDecoded: Words(.undecoded, "Satchel could not decode it")
        case .malformed: Words(.undecoded, "its … contradicts the rest of the file")
        case .configurationMissing: Words(.undecoded, "what says how it is coded is missing")
        case .noKeyframe: Words(.undecoded, "it has no frame that can be decoded without others")
        case .bytesLeftOver: Words("bytes of its data are left over")
        case .repeatedTimes: Words("frames have the same time as others and are not shown")
        case .gap: Words("the file has nothing there")
        case .startsAfter: Words("it begins after the part that is delivered")
        case .notSupported: Words("… is not supported")
        case .notMixed: Words("two channels have no place for them")
        case .failed: Words("making it failed (…)")
        case .limit: Words("the profile accepts no more")
        case .leftOut: Words("… has no place for it")
        case .oneTaken: Words("the others were left out")
        case .mixedDown: Words("the result has two channels")
        case .estimate, .pace: Words("there was too little time")
        case .timeUp: Words("the time was up")
        case .lessEffort: Words("cheaper settings were asked for")
        case .notMade: Words("the codec ended without it")
        }
    }
}

extension Diagnosis.Track {
    /// `audio AAC, 2 channels, eng`.
    public var text: String {
        let counted = channels.map { "\($0) channel\($0 == 1 ? "" : "s")" }
        return (["\(kind.rawValue) \(coding)"] + [counted, language].compactMap(\.self)).joined(separator: ", ")
    }
}

extension Diagnosis {
    /// The result as one phrase for people: `full`, `page 1 of 1000`, `damaged: 285 of 300 rows`, `failed: too large`.
    public static func result(
        _ fidelity: Fidelity?, error: ErrorCode?, diagnosis: Diagnosis?
    ) -> String? {
        if let error { return "failed: \(error.rawValue.replacing("_", with: " "))" }
        guard let fidelity else { return nil }
        let gaps = diagnosis?.evidence.filter { $0.code == .gap } ?? []
        let findings = (diagnosis?.losses ?? []) + gaps + (diagnosis?.omissions ?? [])
        var phrases = findings.map(\.phrase).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        switch fidelity {
        case .full: break
        case .reduced: if diagnosis?.losses.isEmpty != false { phrases.insert("lower quality", at: 0) }
        case .partial: phrases.insert("only a preview", at: 0)
        case .original: phrases.insert("only the original", at: 0)
        }
        guard !phrases.isEmpty else { return fidelity.rawValue }
        return phrases.prefix(2).joined(separator: ", ") + (phrases.count > 2 ? ", …" : "")
    }
}
