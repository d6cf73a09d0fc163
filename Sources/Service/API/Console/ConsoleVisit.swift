import SatchelCore
internal import Stores
import HTTPTypes
import Hummingbird
import Payloads

/// Somebody who is signed in, and what they ask for.
struct ConsoleVisit: Sendable {
    let service: Service
    let api: ConsoleAPI
    let session: ConsoleSession
    let request: Request
    let context: ServiceContext
    let now: Instant
    /// Of the URL; what comes twice counts once.
    let query: [String: String]
    /// What a form says.
    var form: [String: String] = [:]

    /// A part of the path.
    func parameter(_ name: String) throws(Problem) -> String { try context.parameter(name) }

    /// Takes access back; links too, which the API has no call for.
    func revoke(_ access: String) async throws {
        _ = try await AuditActor.$current.withValue(api.actor) {
            try await service.records.revoke(access, in: .owner(session.tenant))
        }
    }

    /// Of the query, nil where it is empty, as a form sends a field that nobody filled in.
    func filter(_ name: String) -> String? {
        query[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The same page with other parameters.
    func url(_ path: String, _ parameters: [(String, String?)]) -> String {
        path + ConsoleAPI.query(parameters.filter { $0.1?.isEmpty == false })
    }
}

/// A page's contents, within what all pages have.
struct ConsoleContent: Sendable {
    var title: String
    var html: HTMLText
    /// Said aloud where it changes while somebody looks.
    var says = ""
    /// Whether it is kept as it is on the server.
    var refreshes = true
    /// A path whose events say when it has changed; nil for a page that has to be looked at again and again.
    var events: String?
    var status = HTTPResponse.Status.ok
}

/// What all that is of one kind is found under.
enum ConsoleSection: String, Sendable, CaseIterable {
    case overview = "Overview"
    case failures = "Failures"
    case jobs = "Jobs"
    case attachments = "Attachments"
    case notifications = "Notifications"
    case categories = "Categories"
    case attempt = "Try"
    case calls = "Calls"
    case uploads = "Uploads"
}

/// A page of the console: a file each.
struct ConsolePage: Sendable {
    var path: String
    /// Nil for one that stands for itself.
    var section: ConsoleSection?
    /// Whoever may not have this of the API may not see the page.
    var needs: Endpoint
    var content: @Sendable (ConsoleVisit) async throws -> ConsoleContent

    static let all: [ConsolePage] = [
        overview, failures, jobs, job, attachments, attachment, notifications, notification, categories, category,
        attempt, calls, call, uploads,
    ]

    /// The page of a section.
    static func first(of section: ConsoleSection) -> ConsolePage? { all.first { $0.section == section } }
}

/// Something that a form does.
struct ConsoleAction: Sendable {
    enum Outcome: Sendable {
        /// Done: this page shows it. A note says what was done.
        case see(String, ConsoleNote)
        /// Not done, and a page that says why.
        case stay(ConsoleContent)
    }

    var path: String
    var needs: Endpoint
    var perform: @Sendable (ConsoleVisit) async throws -> Outcome

    static let all: [ConsoleAction] = [
        cancelJob, retryFailures, startLease, revokeAccess, revokeAllAccess, putCategory, previewNotification,
        submitAttempt,
        ConsoleAction("/console/jobs/{id}/retry", .retryJob, then: "/console/jobs/{id}", .retried),
        ConsoleAction("/console/jobs/{id}/delete", .deleteJob, then: "/console/jobs", .deleted),
        ConsoleAction("/console/jobs/{id}/callback", .replayWebhook, then: "/console/jobs/{id}", .replayed),
        ConsoleAction("/console/attachments/{id}/delete", .deleteAttachment, then: "/console/attachments", .deleted),
        ConsoleAction("/console/calls/{id}/replay", .replayCall, then: "/console/calls/{id}", .replayed),
        ConsoleAction("/console/categories/{id}/delete", .deleteCategory, then: "/console/categories", .deleted),
        ConsoleAction(
            "/console/notifications/{id}/fire", .fireNotification, then: "/console/notifications/{id}", .fired),
        ConsoleAction(
            "/console/notifications/{id}/remove", .deleteNotification, then: "/console/notifications", .removed),
        ConsoleAction("/console/uploads/{id}/end", .deleteUpload, then: "/console/uploads", .cancelled),
    ]
}

extension ConsoleAction {
    /// One call about what the path names, and the page that is seen then.
    private init(_ path: String, _ endpoint: Endpoint, then page: String, _ note: ConsoleNote) {
        self.init(path: path, needs: endpoint) { visit in
            let id = try visit.parameter("id")
            _ = try await visit.api.send(endpoint, ["id": id])
            return .see(page.replacing("{id}", with: ConsoleAPI.encoded(id)), note)
        }
    }
}

/// What was done, said on the page that follows.
enum ConsoleNote: String, Sendable, CaseIterable {
    case retried = "Retrying…"
    case allRetried = "Retrying all…"
    case cancelled = "Cancelled."
    case endedBefore = "The job finished before it could be cancelled."
    case deleted = "Deleted, with all files."
    case replayed = "Calling again…"
    case leased = "Open for five minutes."
    case revoked = "Revoked."
    case saved = "Saved. The change applies to payloads made from now on."
    case fired = "Fired."
    case removed = "Removed."
    case previewed = "Preview of the current version. Devices differ."
    case signedOut = "You are signed out."

    /// In a URL.
    var name: String { "\(self)" }

    init?(name: String?) {
        guard let note = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = note
    }
}
