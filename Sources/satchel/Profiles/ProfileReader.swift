import Attachments
import Yams

/// Reads profiles from YAML and collects every problem, each with its line, key and value.
struct ProfileReader {
    private(set) var problems: [String] = []
    /// On which line each key stands, by its path: `banner.image.aim`.
    private var lines: [String: Int] = [:]
    private var known: [String: Profile] = Dictionary(uniqueKeysWithValues: Profile.builtIn.map { ($0.name, $0) })

    mutating func profiles(in root: Node?) -> [Profile] {
        guard let root, let entries = section(root, "", among: ["profiles"])["profiles"] else {
            report(root, "profiles", "", "is missing: the file must have the key 'profiles'")
            return []
        }
        guard let mapping = entries.mapping else {
            report(entries, "profiles", "", "must be a mapping from names to profiles")
            return []
        }
        return mapping.compactMap { key, value in
            lines[key.string ?? ""] = key.mark?.line
            let profile = profile(named: key.string ?? "", value)
            known[profile.name] = profile
            return profile
        }
    }

    private mutating func profile(named name: String, _ node: Node) -> Profile {
        var profile = Profile(name: name)
        let before = problems.count
        let values = section(
            node, name,
            among: [
                "based_on", "summary", "deadline", "retention", "keeps_original", "speed", "damaged", "thumbnail",
                "image",
                "animation", "video", "audio",
            ])
        if let base = values["based_on"] {
            if let found = known[base.string ?? ""] {
                profile = found
                profile.name = name
            } else {
                report(
                    base, "\(name).based_on", base.string ?? "",
                    "must name one of \(known.keys.sorted().joined(separator: ", "))")
            }
        }
        read(values, "summary", name, into: &profile.summary)
        read(values, "deadline", name, into: &profile.deadline)
        read(values, "retention", name, into: &profile.retention)
        read(values, "keeps_original", name, into: &profile.keepsOriginal)
        read(values, "speed", name, into: &profile.speed)
        read(values, "damaged", name, into: &profile.damaged)
        policy(values, "thumbnail", name, into: &profile.thumbnail, default: ThumbnailPolicy()) {
            reader, values, key, policy in
            reader.read(values, "side", key, into: &policy.side)
            reader.read(values, "fit", key, into: &policy.fit)
            reader.read(values, "cap", key, into: &policy.cap)
            reader.read(values, "quality", key, into: &policy.quality)
        }
        policy(values, "image", name, into: &profile.image, default: ImagePolicy()) { reader, values, key, policy in
            reader.read(values, "types", key, into: &policy.types)
            reader.read(values, "longest_side", key, into: &policy.longestSide)
            reader.read(values, "fit", key, into: &policy.fit)
            reader.read(values, "attention", key, into: &policy.attention)
            reader.read(values, "aim", key, into: &policy.aim)
            reader.read(values, "cap", key, into: &policy.cap)
            reader.read(values, "quality", key, into: &policy.quality)
            reader.read(values, "minimum_quality", key, into: &policy.minimumQuality)
            reader.read(values, "background", key, into: &policy.background)
        }
        policy(values, "animation", name, into: &profile.animation, default: AnimationPolicy()) {
            reader, values, key, policy in
            reader.read(values, "type", key, into: &policy.type)
            reader.read(values, "longest_side", key, into: &policy.longestSide)
            reader.read(values, "aim", key, into: &policy.aim)
            reader.read(values, "cap", key, into: &policy.cap)
        }
        policy(values, "video", name, into: &profile.video, default: VideoPolicy()) { reader, values, key, policy in
            reader.read(values, "type", key, into: &policy.type)
            reader.read(values, "longest_side", key, into: &policy.longestSide)
            reader.read(values, "aim", key, into: &policy.aim)
            reader.read(values, "cap", key, into: &policy.cap)
            reader.read(values, "maximum_duration", key, into: &policy.maximumDuration)
            reader.read(values, "when_longer", key, into: &policy.whenLonger)
            reader.read(values, "rate_factor", key, into: &policy.rateFactor)
            reader.policy(values, "poster", key, into: &policy.poster, default: PosterPolicy()) {
                reader, values, key, policy in
                reader.read(values, "longest_side", key, into: &policy.longestSide)
                reader.read(values, "cap", key, into: &policy.cap)
                reader.read(values, "quality", key, into: &policy.quality)
            }
        }
        policy(values, "audio", name, into: &profile.audio, default: AudioPolicy()) { reader, values, key, policy in
            reader.read(values, "types", key, into: &policy.types)
            reader.read(values, "aim", key, into: &policy.aim)
            reader.read(values, "cap", key, into: &policy.cap)
            reader.read(values, "maximum_duration", key, into: &policy.maximumDuration)
            reader.read(values, "when_longer", key, into: &policy.whenLonger)
            reader.read(values, "bit_rate", key, into: &policy.bitRate)
            reader.policy(values, "waveform", key, into: &policy.waveform, default: WaveformPolicy()) {
                reader, values, key, policy in
                reader.read(values, "width", key, into: &policy.width)
                reader.read(values, "height", key, into: &policy.height)
                reader.read(values, "buckets", key, into: &policy.buckets)
                reader.read(values, "cap", key, into: &policy.cap)
            }
        }
        // Values that could not be read keep their defaults; to complain about those as well would mislead.
        let unread = problems[before...]
        for problem in profile.problems() where !unread.contains(where: { $0.contains("\(name).\(problem.key):") }) {
            if problem.key == "profile" && !unread.isEmpty { continue }
            problems.append("line \(line(of: "\(name).\(problem.key)") ?? 1): \(name).\(problem)")
        }
        return profile
    }

    // MARK: Pieces

    /// The values of a mapping by key.
    private mutating func section(_ node: Node, _ path: String, among keys: Set<String>) -> [String: Node] {
        guard let mapping = node.mapping else {
            report(node, path, node.string ?? "", "must be a mapping")
            return [:]
        }
        var values: [String: Node] = [:]
        for (key, value) in mapping {
            let name = key.string ?? ""
            if !path.isEmpty { lines["\(path).\(name)"] = key.mark?.line }
            if keys.contains(name) {
                values[name] = value
            } else {
                report(
                    key, path.isEmpty ? name : "\(path).\(name)", "",
                    "is not known; known are \(keys.sorted().joined(separator: ", "))")
            }
        }
        return values
    }

    /// A part that `null` takes out and that starts from what is there, else from `defaults`.
    private mutating func policy<Policy: Codable>(
        _ values: [String: Node], _ key: String, _ path: String, into target: inout Policy?, default defaults: Policy,
        _ read: (inout ProfileReader, [String: Node], String, inout Policy) -> Void
    ) {
        guard let node = values[key] else { return }
        if node.null != nil {
            target = nil
            return
        }
        let name = "\(path).\(key)"
        var policy = target ?? defaults
        read(&self, section(node, name, among: Self.keys[key] ?? []), name, &policy)
        target = policy
    }

    private static let keys: [String: Set<String>] = [
        "thumbnail": ["side", "fit", "cap", "quality"],
        "image": [
            "types", "longest_side", "fit", "attention", "aim", "cap", "quality", "minimum_quality", "background",
        ],
        "animation": ["type", "longest_side", "aim", "cap"],
        "video": [
            "type", "longest_side", "aim", "cap", "maximum_duration", "when_longer", "rate_factor", "poster",
        ],
        "poster": ["longest_side", "cap", "quality"],
        "audio": ["types", "aim", "cap", "maximum_duration", "when_longer", "bit_rate", "waveform"],
        "waveform": ["width", "height", "buckets", "cap"],
    ]

    private mutating func read<Value: YAMLValue>(
        _ values: [String: Node], _ key: String, _ path: String, into target: inout Value
    ) {
        guard let node = values[key] else { return }
        if let value = Value(node) {
            target = value
        } else {
            report(node, "\(path).\(key)", node.string ?? "", "must be \(Value.expected)")
        }
    }

    /// The line of a key; where the file doesn't have it, of the part that it belongs to.
    private func line(of key: String) -> Int? {
        if let line = lines[key] { return line }
        return key.lastIndex(of: ".").flatMap { line(of: String(key[..<$0])) }
    }

    private mutating func report(_ node: Node?, _ key: String, _ value: String, _ remedy: String) {
        // Where a value begins says nothing: a list or an empty value may begin on a line after its key's.
        let number = lines[key] ?? node?.mark?.line
        problems.append(
            (number.map { "line \($0): " } ?? "") + ProfileProblem(key: key, value: value, remedy: remedy).description)
    }
}

/// What a scalar or list of a profile can be read as.
private protocol YAMLValue {
    init?(_ node: Node)
    /// For the complaint: `a whole number`.
    static var expected: String { get }
}

extension Int: YAMLValue {
    init?(_ node: Node) {
        guard let value = node.int else { return nil }
        self = value
    }
    static var expected: String { "a whole number" }
}

extension Int64: YAMLValue {
    init?(_ node: Node) {
        guard let value = node.int else { return nil }
        self = Int64(value)
    }
    static var expected: String { "a whole number of bytes" }
}

extension Double: YAMLValue {
    init?(_ node: Node) {
        guard let value = node.float ?? node.int.map(Double.init) else { return nil }
        self = value
    }
    static var expected: String { "a number" }
}

extension Bool: YAMLValue {
    init?(_ node: Node) {
        guard let value = node.bool else { return nil }
        self = value
    }
    static var expected: String { "true or false" }
}

extension String: YAMLValue {
    init?(_ node: Node) {
        guard let value = node.scalar?.string else { return nil }
        self = value
    }
    static var expected: String { "a text" }
}

extension MediaType: YAMLValue {
    init?(_ node: Node) {
        guard let value = MediaType(declared: node.string ?? "") else { return nil }
        self = value
    }
    static var expected: String { "a media type such as image/jpeg" }
}

/// A choice among words.
extension YAMLValue where Self: RawRepresentable<String> & CaseIterable {
    init?(_ node: Node) {
        self.init(rawValue: node.string ?? "")
    }
    static var expected: String { allCases.map(\.rawValue).joined(separator: " or ") }
}

extension Fit: YAMLValue {}
extension Speed: YAMLValue {}
extension WhenDamaged: YAMLValue {}
extension WhenLonger: YAMLValue {}

extension Optional: YAMLValue where Wrapped: YAMLValue {
    init?(_ node: Node) {
        if node.null != nil {
            self = nil
        } else if let value = Wrapped(node) {
            self = .some(value)
        } else {
            return nil
        }
    }
    static var expected: String { "\(Wrapped.expected), or null" }
}

extension Array: YAMLValue where Element: YAMLValue {
    init?(_ node: Node) {
        guard let sequence = node.sequence else { return nil }
        let values = sequence.compactMap { Element($0) }
        guard values.count == sequence.count else { return nil }
        self = values
    }
    static var expected: String { "a list, each \(Element.expected)" }
}
