import HTTPTypes

/// What differs between the versions of Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload) that clients speak, by
/// the number in `Upload-Draft-Interop-Version`: 3 is draft 01 (iOS 17), 6 are drafts 04 and 05 (iOS 18), 8 is as the final form
/// (iOS 26), which has no number.
struct ResumableVersion: Hashable, Sendable {
    /// Nil for the final form.
    var number: Int?
    /// Whether completeness is told by its opposite.
    var saysIncomplete = false
    /// Whether what is appended is declared as `application/partial-upload`.
    var declaresParts = true
    /// Whether the length is told and taken.
    var tellsLength = true
    /// What the rest of an upload's life is called in `Upload-Limit`; nil where there is no such header.
    var age: String? = "max-age"
    /// Whether a look at an upload, or its end, that says how far it is is refused.
    var refusesState = false
    /// What is answered to a part that is not the last.
    var partial = HTTPResponse.Status.noContent
    /// Whether more than there is room for is the upload's end.
    var endsTooLong = true
    /// Whether the last answer is given again to whoever asks for it by an empty end.
    var replays = true
    /// Whether interim responses may be sent: the client understands them.
    var informs = true

    static let known: [ResumableVersion] = [
        ResumableVersion(
            number: 3, saysIncomplete: true, declaresParts: false, tellsLength: false, age: nil, refusesState: true,
            partial: .created, endsTooLong: false, replays: false),
        ResumableVersion(
            number: 6, age: "expires", refusesState: true, partial: .created, endsTooLong: false, replays: false),
        ResumableVersion(number: 8),
        ResumableVersion(number: nil),
    ]

}

extension ResumableVersion {
    /// By what a request says. A version that isn't known is spoken to as the last, without interim responses.
    ///
    /// - Parameter header: `Upload-Draft-Interop-Version`.
    init(header: String?) {
        let number = header.map { StructuredField.count($0).flatMap { Int(exactly: $0) } ?? 0 }
        if let known = Self.known.first(where: { $0.number == number }) {
            self = known
        } else {
            self.init(number: nil, informs: false)
        }
    }

    // MARK: Fields

    var completeness: HTTPField.Name { saysIncomplete ? .uploadIncomplete : .uploadComplete }

    /// Whether a request completes the upload; nil where it doesn't say, or in a way that can't be read.
    func completes(_ fields: HTTPFields) -> Bool? {
        fields[completeness].flatMap(StructuredField.boolean).map { $0 != saysIncomplete }
    }

    /// Says whether an upload is complete.
    func setCompleteness(_ isComplete: Bool, in fields: inout HTTPFields) {
        fields[completeness] = StructuredField.write(isComplete != saysIncomplete)
    }

    /// - Parameters:
    ///   - longest: Bytes of an upload.
    ///   - rest: Seconds of its life; nil before it has begun.
    func limit(longest: Int64, rest: Int64?) -> String? {
        guard let age else { return nil }
        return "max-size=\(longest)" + (rest.map { ", \(age)=\($0)" } ?? "")
    }

    /// What every answer and interim response says.
    var fields: HTTPFields { number.map { [.uploadDraftInteropVersion: "\($0)"] } ?? [:] }
}
