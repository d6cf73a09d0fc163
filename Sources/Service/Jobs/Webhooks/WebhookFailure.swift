public import SatchelCore

/// What keeps a webhook from its receiver, in words for whoever asked for it: an error of the fetch guard speaks of
/// sources.
public enum WebhookFailure {
    /// Why a submission with such a webhook is refused, and what to do.
    public static func message(_ error: AttachmentError) -> String {
        switch error {
        case .invalidSource(let reason):
            "Must be a usable URL: \(reason)."
        case .blockedAddress(let host, let address):
            "Satchel will not call '\(host)'\(address == host ? "" : " (\(address))"): only public addresses and standard ports are allowed. An operator can allow it with the setting callback.allow."
        default: error.message
        }
    }

    /// Why an attempt came to nothing, as a record shows it: a clause, or the code alone where the guard said no. Where the
    /// host led is the operator's to know.
    static func reason(_ error: AttachmentError) -> String {
        switch error {
        case .blockedAddress: error.code.rawValue
        case .invalidSource(let reason), .fetchFailed(let reason, _): reason
        case .fetchTimeout(let seconds): "the receiver did not answer in \(Int(seconds.rounded(.up))) s"
        default: error.description
        }
    }
}
