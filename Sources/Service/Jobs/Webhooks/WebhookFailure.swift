public import SatchelCore

/// What keeps a webhook from its receiver, in words for whoever asked for it: an error of the fetch guard speaks of
/// sources.
public enum WebhookFailure {
    /// Why a submission with such a webhook is refused, and what to do.
    public static func message(_ error: AttachmentError) -> String {
        switch error {
        case .invalidSource(let reason):
            "Must be a usable URL: \(reason)."
        case .blockedAddress(let host, _):
            "Satchel will not call '\(host)': only public addresses and standard ports are allowed. An operator can allow it with the setting callback.allow."
        default: error.message
        }
    }

    /// Why an attempt came to nothing, as a record shows it: a clause, or the code alone where the guard said no. Where the
    /// host led is the operator's to know.
    static func reason(_ error: AttachmentError) -> String {
        switch error {
        case .blockedAddress: error.code.rawValue
        case .invalidSource(let reason), .fetchFailed(_, _, let reason): reason
        case .fetchTimeout(let seconds): "the receiver did not answer in \(Int(max(1, seconds.rounded()))) s"
        default: error.description
        }
    }
}
