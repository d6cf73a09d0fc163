import SatchelCore
import Ingest
import Jobs

/// Fields whose values depend on what the service is set to.
extension FieldReader {
    /// A URL that may be called, where it is one. Where its host's name leads is looked at with each call.
    func webhookURL(_ field: String, _ webhooks: FetchGuard) -> String? {
        guard let text = string(field, bytes: 1...FetchURL.maximumLength) else { return nil }
        do throws(AttachmentError) {
            try webhooks.check(FetchURL(text))
            return text
        } catch {
            refuse(field, error.code.rawValue, WebhookFailure.message(error))
            return nil
        }
    }

    /// The name of one of these profiles.
    func profile(among profiles: [String]) -> String? {
        guard let name = string("profile") else { return nil }
        guard profiles.contains(name) else {
            addError(
                "profile", "'\(name.prefix(64))' is not a profile. Must be one of \(profiles.joined(separator: ", ")).")
            return nil
        }
        return name
    }
}
