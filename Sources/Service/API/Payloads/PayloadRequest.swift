import SatchelCore
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Payloads

/// What a caller wants of a push payload: the query and the headers beside it.
struct PayloadRequest: Hashable, Sendable {
    /// Seconds.
    static let defaultDeadline = 10.0
    /// Seconds. Push services and proxies give up on a caller that waits longer.
    static let deadlines = 0.05...25.0
    /// Seconds that links live.
    static let defaultLife = AccessLimits.link.inSeconds
    static let lives = 60.0...AccessLimits.longest.inSeconds

    /// Nil: that of the payload's category, else the one that this is mapped to, else `notification`.
    var profile: String?
    var onFailure = FailureMode.drop
    var pushType = PushType.alert
    /// Seconds that the answer may take.
    var deadline = Self.defaultDeadline
    /// Seconds that links live; nil for ``expiresAt`` or the default.
    var expiresIn: Double?
    /// When the push ends; nil where it doesn't say.
    var expiresAt: Instant?
    var delivery = DeliveryMode.private
    /// Nil: what is made stays in the clear.
    var encrypt: EncryptionScheme?
    /// Places of media beside the known conventions and the setting's.
    var pointers: [JSONPointer] = []

    /// How long links live that are made at `now`.
    func life(at now: Instant) -> Duration {
        if let expiresIn { return .seconds(fraction: expiresIn) }
        guard let expiresAt else { return .seconds(fraction: Self.defaultLife) }
        // A push that arrives in its last second is fetched for after that.
        let left = (expiresAt - now).inSeconds
        return .seconds(fraction: min(max(left, Self.lives.lowerBound), Self.lives.upperBound))
    }
}

extension PayloadRequest {
    /// What a query may have; a push type is APNs' word.
    private static func parameters(of format: PayloadFormat) -> [String] {
        ["profile", "on_failure"] + (format == .apns ? ["push_type"] : []) + [
            "deadline", "expires_in", "delivery", "encrypt", "media",
        ]
    }

    /// - Throws: A problem that names everything that can't be taken.
    init(_ request: Request, _ format: PayloadFormat) throws(Problem) {
        let known = Self.parameters(of: format)
        let errors = ValidationErrors()
        func choice<Choice: RawRepresentable & CaseIterable>(
            _ name: String, _ text: String, _ value: inout Choice
        ) where Choice.RawValue == String {
            if let choice = Choice(rawValue: text) {
                value = choice
            } else {
                errors.add(name, "Must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
        }
        func seconds(_ name: String, _ text: String, in range: ClosedRange<Double>) -> Double? {
            if let value = Double(text), range.contains(value) { return value }
            errors.add(
                name,
                "Must be between \(PlainValue.number(range.lowerBound).text) and \(PlainValue.number(range.upperBound).text) seconds."
            )
            return nil
        }
        for (name, text) in try Query(request).parameters {
            guard known.contains(name) else {
                errors.add(
                    String(name.prefix(64)),
                    "Unknown parameter. Must be one of \(known.joined(separator: ", "))."
                )
                continue
            }
            switch name {
            case "profile": profile = text
            case "on_failure": choice(name, text, &onFailure)
            case "push_type": choice(name, text, &pushType)
            case "deadline": deadline = seconds(name, text, in: Self.deadlines) ?? deadline
            case "expires_in": expiresIn = seconds(name, text, in: Self.lives)
            case "media":
                let named = text.split(separator: ",").map { JSONPointer(String($0)) }
                pointers = named.compactMap(\.self)
                if !(1...PushPayload.maximumMedia).contains(named.count) || pointers.count < named.count {
                    errors.add(
                        name,
                        "Must be 1 to \(PushPayload.maximumMedia) JSON pointers separated by commas, such as /photo.")
                }
            case "encrypt":
                encrypt = EncryptionScheme.ofRenditions.first { $0.rawValue == text }
                if encrypt == nil { errors.add(name, "Must be one of matrix, aesgcm.") }
            default: choice(name, text, &delivery)
            }
        }
        // 0 is APNs' word for a push that isn't kept: its links live as by default.
        if format == .apns, let text = request.headers["apns-expiration"], text != "0" {
            if let time = Int64(text), (0..<1 << 40).contains(time) {
                expiresAt = Instant(milliseconds: time * 1000)
            } else {
                errors.add("apns-expiration", "Must be a number of seconds since 1970, or 0.")
            }
        }
        try errors.check()
    }
}
