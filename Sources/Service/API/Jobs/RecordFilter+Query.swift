import SatchelCore

extension RecordFilter {
    /// What lists of jobs and of attachments are narrowed by.
    static let parameters = [
        "state", "kind", "code", "profile", "identifier", "since", "before", labelPrefix,
    ]
    private static let labelPrefix = "metadata."
    /// Pairs of metadata that may be asked for at once.
    private static let mostLabels = 10

    /// - Parameter query: Of these parameters; what can't be taken is a validation error.
    init(_ query: FieldReader) {
        self.init(
            state: query.choice("state", WorkState.self), kind: query.choice("kind", MediaKind.self),
            code: query.choice("code", ErrorCode.self), profile: query.string("profile"),
            identifier: query.string("identifier"), since: query.instant("since"), before: query.instant("before"))
        let names = query.names.filter { $0.hasPrefix(Self.labelPrefix) }
        if let first = names.first, names.count > Self.mostLabels {
            query.addError(first, "Must not be more than \(Self.mostLabels) pairs of metadata at once.")
        }
        for name in names.prefix(Self.mostLabels) {
            guard let value = query.string(name) else { continue }
            if value.utf8.count > JobLabel.longestValue {
                query.addError(
                    name, "Must be at most \(JobLabel.longestValue) bytes. Longer values cannot be searched.")
            }
            labels.insert(JobLabel(String(name.dropFirst(Self.labelPrefix.count)), value))
        }
    }
}

extension FieldReader {
    /// A moment as RFC 3339 writes it, with its offset.
    func instant(_ field: String) -> Instant? {
        guard let text = string(field) else { return nil }
        guard let instant = WrittenTime(text)?.instant else {
            addError(field, "Must be a time with an offset, such as 2026-11-21T10:15:00Z.")
            return nil
        }
        return instant
    }
}
