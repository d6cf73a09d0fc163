public import SatchelCore
import FoundationEssentials
import HTTPTypes
public import Hummingbird
import Ingest
public import Jobs
import NIOCore
import Payloads
import Platform
import Stores
import Synchronization

/// A preview of files that are being worked on: one page, what it needs, and the answers to what is done on it. Nothing of
/// it is kept.
public final class LivePreview: Sendable {
    /// What the files hold.
    public struct Contents: Hashable, Sendable {
        public var payload: [UInt8]
        public var format: PayloadFormat
        /// Nil where there is no such file.
        public var category: [UInt8]?
        /// Media that come with the payload.
        public var attachments: [AttachmentSubmission]

        public init(
            payload: [UInt8], format: PayloadFormat = .apns, category: [UInt8]?, attachments: [AttachmentSubmission]
        ) {
            self.payload = payload
            self.format = format
            self.category = category
            self.attachments = attachments
        }
    }

    /// Why contents can't be shown: a sentence for each file that is to blame.
    public struct Refusal: Error, Hashable, Sendable {
        public var problems: [String]

        public init(problems: [String]) {
            self.problems = problems
        }
    }

    private struct Showing {
        var preview: NotificationPreview?
        var problems: [String] = []
        /// Counts what was shown.
        var version = 0
        /// Of its media.
        var job: JobID?
        var sessions: [String: Session] = [:]
    }

    private struct Session {
        var state: ResponseSession
        /// By the responses' ids, so that one that is repeated gets the same.
        var answers: [String: ResponseAnswer] = [:]
    }

    /// Sessions that are remembered: more than anybody opens between two changes of a file.
    private static let sessions = 256

    private let service: Service
    private let handler: ResponseHandler?
    private let client: HandlerClient
    private let say: @Sendable (String) -> Void
    private let ticket = LivePreview.token()
    private let showing = Mutex(Showing())
    /// One response after the other, as a person gives them.
    private let turn = AsyncSemaphore(capacity: 1)

    /// - Parameters:
    ///   - handler: Is asked; nil: all is forwarded.
    ///   - client: Asks it.
    ///   - say: Is given a sentence for whoever works on the files, where something is not as they may expect.
    public init(
        of service: Service, handler: ResponseHandler?, client: HandlerClient,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.service = service
        self.handler = handler
        self.client = client
        self.say = say
    }

    /// Of the page: nobody finds it who wasn't told.
    public var path: String { "/p/\(ticket)" }

    private var responsePath: String { "/r/\(ticket)" }

    private static func token() -> String {
        (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
    }

    // MARK: Showing

    /// Shows contents, once their media are prepared.
    ///
    /// - Throws: ``Refusal`` where they can't be shown; then this is said above what was shown before.
    public func show(_ contents: Contents) async throws {
        let prepared: (preview: NotificationPreview, job: JobID?)
        do {
            prepared = try await self.prepared(contents)
        } catch let error where !(error is CancellationError) {
            let refusal = error as? Refusal ?? Refusal(problems: [Problem(describing: error).detail])
            fail(refusal.problems)
            throw refusal
        }
        let former = showing.withLock { showing in
            defer { showing.job = prepared.job }
            showing.preview = prepared.preview
            showing.problems = []
            showing.version += 1
            showing.sessions = [:]
            return showing.job
        }
        // The page asks for what is newer before it asks for media again.
        if let former { _ = try await service.records.deleteJob(former, of: .local) }
    }

    /// Says above what was shown before why there is nothing newer.
    public func fail(_ problems: [String]) {
        showing.withLock { showing in
            guard problems != showing.problems else { return }
            showing.problems = problems
            showing.version += 1
        }
    }

    private func prepared(_ contents: Contents) async throws -> (preview: NotificationPreview, job: JobID?) {
        var problems: [String] = []
        var category: Category?
        if let file = contents.category {
            // Nobody but the handler is called.
            let anybody = FetchGuard(allowing: (try? FetchAllowance.list(["0.0.0.0/0", "::/0"])) ?? [])
            do throws(FileProblems) {
                category = try CategoryReader(profiles: service.profiles.map(\.name), webhooks: anybody)
                    .category(file: file)
            } catch {
                problems += error.lines.map { "Invalid category: \($0)" }
            }
        }
        var read: PushPayload?
        do throws(PayloadError) {
            read = try PushPayload(
                contents.payload, format: contents.format,
                pointers: service.settings.payloadPointers.compactMap(JSONPointer.init),
                attachments: contents.attachments.map(\.identifier))
        } catch {
            problems.append(error.message)
        }
        guard let payload = read, problems.isEmpty else { throw Refusal(problems: problems) }
        if let other = category?.id, other != payload.category {
            say(
                "The category '\(other)' is not used: the payload names \(payload.category.map { "'\($0)'" } ?? "none")."
            )
            category = nil
        }
        var preview = NotificationPreview(
            payload: payload.bytes, format: contents.format, category: category, respond: responsePath)
        guard !payload.media.isEmpty else { return (preview, nil) }
        let profile = category?.profile.flatMap(service.profile) ?? service.profile(named: Profile.notification.name)
        let result = try await PayloadEnriching(
            service: service, payload: payload, wishes: PayloadRequest(deadline: PayloadRequest.deadlines.upperBound),
            profile: profile ?? .notification, tenant: .local, traceparent: nil, attachments: contents.attachments,
            opensAll: true
        ).result()
        preview.payload = result.payload.bytes
        preview.media = result.media
        preview.dropped = result.payload.dropped.map(\.text)
        preview.linksEnd = result.linksEnd
        return (preview, result.job)
    }

    // MARK: Over HTTP

    /// What is answered beside content.
    public func routes() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.add(middleware: ProblemMiddleware())
        router.get(RouterPath("/assets/{name}")) { _, context in try AssetRoutes.response(context) }
        router.get(RouterPath(path)) { request, _ in self.page(PreviewAppearance(request)) }
        router.get(RouterPath(path + "/version")) { _, _ in
            let version = self.showing.withLock(\.version)
            return try Response.json(["version": version], headers: .anyOrigin)
        }
        router.on(RouterPath(responsePath), method: .options) { _, _ in Response.preflight(.post) }
        router.post(RouterPath(responsePath)) { request, _ in
            do {
                return try Response.json(try await self.answer(request), headers: .anyOrigin)
            } catch {
                var problem = Problem(describing: error)
                problem.headers.append(contentsOf: HTTPFields.anyOrigin)
                return problem.response
            }
        }
        return router
    }

    private func page(_ appearance: PreviewAppearance) -> Response {
        let page = showing.withLock { showing in
            PreviewPage(
                preview: showing.preview, problems: showing.problems, appearance: appearance,
                follows: .init(path: path + "/version", version: showing.version))
        }
        let policy = PagePolicy()
        return policy.sandboxed(page.html(policy))
    }

    private func answer(_ request: Request) async throws -> ResponseAnswer {
        let body = try await IncomingBody.json(of: request, limit: ResponseReader.bodyLimit)
        let response = try ResponseReader.response(body.readableBytesView)
        guard await turn.acquire(1, until: nil) == .granted else { throw CancellationError() }
        defer { turn.release(1) }
        return try await answer(response)
    }

    private func answer(_ response: NotificationResponse) async throws -> ResponseAnswer {
        let (category, known) = showing.withLock { showing in
            let session = showing.sessions[response.session]
            return (
                showing.preview?.category, session ?? Session(state: ResponseSession(of: showing.preview?.category))
            )
        }
        if let answer = known.answers[response.id] { return answer }
        var session = known
        do throws(ResponseRefusal) {
            try session.state.take(response, of: category)
        } catch {
            throw Problem(error)
        }
        var decision: HandlerAnswer?
        if response.action.isForHandler, var handler {
            handler.timeout = category?.responses?.handler?.timeout ?? handler.timeout
            do throws(HandlerFailure) {
                decision = try await client.decision(
                    of: handler, to: HandlerRequest(response: response, session: session.state, isPreview: true),
                    secrets: [])
            } catch {
                say("The handler made no decision: \(error.reason).")
            }
        }
        let answer = session.state.settle(response, by: decision)
        session.answers[response.id] = answer
        showing.withLock { showing in
            if showing.sessions.count >= Self.sessions { showing.sessions = [:] }
            showing.sessions[response.session] = session
        }
        return answer
    }
}
