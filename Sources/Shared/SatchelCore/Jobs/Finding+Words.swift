/// The English words for findings: the one place from which every message, table and page takes them.
extension Finding {
    /// A row of the table.
    struct Words {
        /// How the refusal of a file begins. The first four say that the file's own bytes prove the damage.
        enum Opening { case truncated, damaged, changed, empty, undecoded }

        /// The beginning of a refusal; nil for findings that no file is refused for.
        var opening: Opening?
        /// Why something is missing or what was found: a clause in which `…` stands for the name.
        var cause: String

        init(_ opening: Opening?, _ cause: String) { (self.opening, self.cause) = (opening, cause) }
    }

    /// What and why, as records list it: `3 of 900 rows: the file ends within them`.
    public var text: String {
        switch code {
        case .oneTaken, .limit, .mixedDown: "\(phrase)\(name.map { " (\($0))" } ?? ""): \(cause)"
        default: part == nil ? cause : "\(what): \(cause)"
        }
    }

    /// What is missing, with amounts where they are known.
    public var what: String {
        guard let part else { return "something" }
        switch isOfTime || code == .memory ? (nil, nil) : amounts {
        case (let missing?, let total?) where part == .frames && code == .endsWithin:
            return missing == "1"
                ? "frame \(total) and all after it" : "\(missing) of the first \(total) frames and all after them"
        case (let missing?, let total?) where part == .detail: return "the detail of \(missing) of \(total) rows"
        case (let missing?, let total?): return "\(missing) of \(total)\(part.isTimed ? " of" : "") \(part.many)"
        case (nil, nil) where part == .plays: return "its repetition"
        case (nil, let total?) where code == .endsWithin && part.isTimed: return "\(part.many) after \(total)"
        default: return part.many
        }
    }

    /// Why, as a clause.
    public var cause: String {
        let words = code.words.cause.replacing("…", with: name ?? "data")
        return switch (code, amounts.missing, amounts.total) {
        case (.estimate, let missing?, let total?): "an estimated \(missing) were more than the \(total) left"
        case (.pace, let missing?, let total?): "at full effort \(missing) more were needed, and \(total) were left"
        case (.startsAfter, let missing?, let total?): "it begins at \(missing), and the part ends at \(total)"
        case (.bytesLeftOver, _, let number?), (.repeatedTimes, let number?, _): "\(number) \(words)"
        case (.delaysChanged, let after?, let before?) where after != before:
            "\(words), and it plays for \(after) instead of \(before)"
        case (.sizeChanges, let time?, _): "from \(time) on \(words)"
        case (.otherLength, let announced?, let held?): "its header announces \(announced), and it holds \(held)"
        case (.otherFrame, let wanted?, let taken?):
            "the part has no frame \(wanted), so the thumbnail shows frame \(taken)"
        case (.memory, let needed?, let granted?): "it needs \(needed) bytes, and \(granted) were granted"
        default: words
        }
    }

    /// What the sender of a file is told that was refused for this.
    public var refusal: String {
        let (missing, total) = amounts
        let lacks = "\(what) \(self.missing == 1 || part == .detail ? "is" : "are") missing"
        switch code.words.opening {
        case .truncated where part?.isTimed == true && missing != nil && total != nil:
            let (present, total) = Self.times(present, self.total ?? 0)
            return "The file is truncated: its header announces \(total), and only the first \(present) are there"
                + "\(code == .zeros ? ": \(cause)" : "").\(rule) Send it again, whole."
        case .truncated:
            return "The file is truncated: \(missing == nil ? cause : lacks).\(rule) Send it again, whole."
        case .damaged:
            return "The file is damaged: \(missing == nil ? "" : "\(lacks), because ")\(cause).\(rule) "
                + "Send it again from the original."
        case .changed: return "The file was changed on its way: \(cause). Send it again as a file, not as text."
        case .empty:
            let size = total.map { "\($0) bytes" } ?? "nothing but a header"
            return "The file has \(size), and \(cause). Get the file again from where it came from."
        case .undecoded, nil:
            let library = library.map { " (\($0))" } ?? ""
            let done = missing == nil ? "read this \(thing)" : "decode \(what)"
            return "Satchel could not \(done)\(library)\(code == .notDecoded ? "" : ": \(cause)").\(rule) "
                + (missing == nil
                    ? "It may well be whole: if it opens elsewhere" : "If it opens elsewhere without a fault")
                + ", save it as \(part?.common ?? "JPEG, PNG, MP4 or MP3") and send that. "
                + "If not, it is damaged: get it again from where it came from."
        }
    }

    /// What a person reads in a table of results: `page 1 of 1000`, `without sound`, `damaged: 285 of 300 rows`.
    public var phrase: String {
        guard let part else { return cause }
        func share(_ amount: Double, _ total: Double) -> String {
            guard part.isTimed else { return "\(Self.count(amount)) of \(Self.count(total))" }
            let isClose = amount != total && Self.clock(amount) == Self.clock(total)
            return "\(Self.clock(amount, isExact: isClose)) of \(Self.clock(total, isExact: isClose))"
        }
        switch (code, missing, total) {
        case (.limit, _, let total?): return "first \(share(present, total))"
        case (.oneTaken, _, let total?): return "\(part.one) \(share(present, total))"
        case (.oneTaken, _, nil): return "first \(part.one)"
        case (.mixedDown, _, let total?): return "\(Self.count(total)) channels mixed to 2"
        case (.endsWithin, nil, let total?) where part.isTimed: return "damaged: ends at \(Self.clock(total))"
        case (.gap, let missing?, let total?): return "\(share(missing, total)) without \(part.bare)"
        case (.merged, _?, let total?), (.leftOut, _?, let total?): return "\(share(present, total)) \(part.many)"
        case (_, _?, let total?) where !isOfTime && part != .channels:
            return "damaged: \(share(present, total))\(part.isTimed ? "" : " \(part.many)")"
        default: return "without \(part.bare)"
        }
    }

    private var present: Double { max(0, (total ?? 0) - (missing ?? 0)) }

    /// The amounts as texts that differ where the amounts do.
    private var amounts: (missing: String?, total: String?) {
        guard part?.isTimed == true || isOfTime else { return (missing.map(Self.count), total.map(Self.count)) }
        guard let missing, let total else { return (missing.map { Self.time($0) }, total.map { Self.time($0) }) }
        return Self.times(missing, total)
    }

    private static func times(_ some: Double, _ all: Double) -> (String, String) {
        let isClose = some != all && time(some) == time(all)
        return (time(some, isExact: isClose), time(all, isExact: isClose))
    }

    /// Its amounts say when or how long, and not how much is missing.
    private var isOfTime: Bool {
        [.estimate, .pace, .startsAfter, .delaysChanged, .sizeChanges, .otherLength].contains(code)
    }

    /// `AVIF picture`.
    private var thing: String { [name, part?.thing ?? "file"].compactMap(\.self).joined(separator: " ") }

    /// The rule by which a part of a file isn't delivered, and the way around it.
    private var rule: String {
        guard let missing, missing > 0, total != nil, !isTolerable else { return "" }
        return " More than 2 % of the file is missing, so it was not delivered. "
            + "Profiles with 'damaged: salvage' deliver the rest."
    }

    /// Returns a number of frames or rows, within the bounds of what a file can have.
    private static func count(_ value: Double) -> String { String(Int64(clampingTo: min(max(value, 0), 1e15))) }

    private static func bounded(_ seconds: Double) -> Double { seconds.isNaN ? 0 : min(max(seconds, 0), 3.6e6) }

    /// `0.04 s`, `2.05 s`, `8 min 32 s`, `2 h 5 min`; at most 1,000 hours.
    private static func time(_ seconds: Double, isExact: Bool = false) -> String {
        let seconds = bounded(seconds)
        let (whole, scale) = (Int(seconds.rounded()), isExact && seconds < 60 ? 1_000 : 100)
        if whole >= 3600, !isExact { return "\(whole / 3600) h \(whole % 3600 / 60) min" }
        if whole >= 60, !isExact { return "\(whole / 60) min \(whole % 60) s" }
        let parts = max(seconds > 0 ? 1 : 0, Int((seconds * Double(scale)).rounded()))
        return "\(parts / scale).\(String(parts % scale + scale).dropFirst()) s"
    }

    /// `2.8 s`, `10 s`, `1:02`, `2:05:00`; with hundredths `10.03 s`, `1:02.50`.
    private static func clock(_ seconds: Double, isExact: Bool = false) -> String {
        let (parts, scale) = isExact ? (bounded(seconds) * 100, 100) : (bounded(seconds), 1)
        let whole = Int(parts.rounded()) / scale
        func two(_ number: Int) -> String { "\(number < 10 ? "0" : "")\(number)" }
        let fraction = isExact ? ".\(two(Int(parts.rounded()) % scale))" : ""
        if whole >= 3600 { return "\(whole / 3600):\(two(whole % 3600 / 60)):\(two(whole % 60))\(fraction)" }
        if whole >= 60 { return "\(whole / 60):\(two(whole % 60))\(fraction)" }
        let tenths = Int((bounded(seconds) * 10).rounded())
        return isExact || tenths % 10 == 0 || tenths >= 100
            ? "\(whole)\(fraction) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

extension Finding.Part {
    /// Its amounts are seconds.
    var isTimed: Bool { self == .sound || self == .video }

    /// What nearly every program writes.
    var common: String {
        switch self {
        case .sound, .soundTracks, .channels: "MP4, M4A or MP3"
        case .video, .videoTracks, .subtitles, .recordings: "MP4"
        default: "JPEG or PNG"
        }
    }

    var thing: String { isTimed ? rawValue : "picture" }

    /// The word for one of several, before its number.
    var one: String { many.hasSuffix("s") ? String(many.dropLast()) : "picture" }

    /// The word behind `3 of 900`, and the word alone.
    var many: String {
        switch self {
        case .gainMap, .hdr: "HDR"
        case .motion: "the video beside its picture"
        case .speed: "the speed 'best'"
        case .cover, .transparency, .animation, .subtitles, .sound, .video: "its \(rawValue)"
        default: rawValue.replacing("_", with: " ")
        }
    }

    /// The word behind `without`.
    var bare: String {
        switch self {
        case .motion: "its video"
        case .plays: "repetition"
        case .gainMap, .hdr: "HDR"
        case .soundTracks: "sound"
        case .videoTracks: "video"
        default: rawValue
        }
    }
}

extension Finding.Code {
    /// Whether the file's own bytes prove that something of it is missing or changed. All else may be for want of a better
    /// decoder.
    public var isProof: Bool { words.opening.map { $0 != .undecoded } ?? false }

    /// The cause as documentation lists it.
    public var meaning: String {
        let cause = words.cause.replacing("…", with: "`name`")
        return "\(cause.prefix(1).uppercased())\(cause.dropFirst())."
    }

    /// The table: one row for each code.
    var words: Finding.Words {
        let (opening, cause): (Finding.Words.Opening?, String) =
            switch self {
            case .endsBefore: (.truncated, "the file ends before its … is complete")
            case .endsWithin: (.truncated, "the file ends within its …, and how much is missing is unknown")
            case .dataEndsEarly: (.damaged, "its data ends before its announced rows")
            case .zeros: (.truncated, "the file holds nothing but zeros from there on")
            case .checksumDiffers: (.damaged, "a checksum of its … is wrong")
            case .announcesMore: (.damaged, "its header announces more than the file holds")
            case .endMarkMissing: (.damaged, "the file has no end mark, as some programs leave it out")
            case .indexMissing: (.damaged, "its index is missing, without which nothing of it can be decoded")
            case .nothingInside: (.empty, "there is nothing behind its header")
            case .tooSmall: (.empty, "it is too small for a picture, sound or video")
            case .lineEndsChanged: (.changed, "its line ends were changed, as a transfer of text does")
            case .highBitsLost: (.changed, "the highest bit of its bytes was left out, as a transfer of text does")
            case .bytesReplaced: (.changed, "it was read as text, which replaced most of its bytes by question marks")
            case .bytesRecoded: (.changed, "it was read as text, which wrote two or three bytes in the place of one")
            case .notDecoded: (.undecoded, "Satchel could not decode it")
            case .malformed: (.undecoded, "its … contradicts the rest of the file")
            case .configurationMissing: (.undecoded, "what says how it is coded is missing")
            case .noKeyframe: (.undecoded, "it has no frame that can be decoded without others")
            case .bytesLeftOver: (nil, "bytes of its data are left over, so parts of it may look wrong")
            case .repeatedTimes: (nil, "frames have the same time as others and are not shown")
            case .gap: (nil, "the file has nothing there")
            case .startsAfter: (nil, "it begins after the part that is delivered")
            case .notSupported: (nil, "… is not supported")
            case .notMixed: (nil, "two channels have no place for them")
            case .failed: (nil, "making it failed (…)")
            case .limit: (nil, "the profile accepts no more")
            case .leftOut: (nil, "… has no place for it; a profile with 'keeps_original' keeps the source too")
            case .oneTaken: (nil, "the others were left out")
            case .mixedDown: (nil, "the result has two channels")
            case .merged: (nil, "… shows no frame for so short a time, so they were merged with others")
            case .delaysChanged: (nil, "… has no place for its exact delays")
            case .sizeChanges: (nil, "its pictures are … and are fitted into the shape of the first")
            case .profileLeftOut: (nil, "its color profile is damaged or for other pixels, and was left out")
            case .profileAssumed: (nil, "its CMYK has no color profile, so a usual printer's was assumed")
            case .clipped: (nil, "what its floats have beyond white is white, and what is no number is black")
            case .otherLength: (nil, "its header announces another length than it holds")
            case .otherFrame: (nil, "the part has no such frame, so the thumbnail shows another")
            case .memory: (nil, "there was too little memory")
            case .shownOtherwise: (nil, "the library for it would show other frames")
            case .estimate, .pace: (nil, "there was too little time")
            case .timeUp: (nil, "the time was up")
            case .notMade: (nil, "the codec ended without it")
            }
        return Finding.Words(opening, cause)
    }
}

extension Diagnosis.Track {
    /// `eng, AAC, stereo`.
    public var text: String {
        let layouts = [1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"]
        let layout = channels.map { layouts[$0] ?? "\($0) channels" }
        return [language, coding, layout].compactMap(\.self).joined(separator: ", ")
    }
}

extension Diagnosis {
    /// The result as one phrase for people: `full`, `page 1 of 1000`, `damaged: 285 of 300 rows`, `failed: too large`.
    public static func result(_ fidelity: Fidelity?, error: ErrorCode?, diagnosis: Diagnosis?) -> String? {
        if let error { return "failed: \(error.rawValue.replacing("_", with: " "))" }
        guard let fidelity else { return nil }
        let gaps = diagnosis?.evidence.filter { $0.code == .gap } ?? []
        var phrases = (diagnosis?.losses ?? []).map(\.phrase) + (gaps + (diagnosis?.omissions ?? [])).map(\.phrase)
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
