import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Payloads
import Platform

/// The operator's console: pages that are made here, of what the API answers to whoever is signed in.
struct ConsoleRoutes: Sendable {
    /// Signing in, which everybody may try.
    private static let signInPath = "/console/sign-in"
    private static let signOutPath = "/console/sign-out"
    private static let mediaPath = "/console/media/{attachment}/{rendition}"
    private static let eventsPath = "/console/jobs/{id}/events"
    private static let samplePath = "/console/categories/{id}/sample"

    /// Templates of all paths, as metrics name them.
    static let paths: Set<String> = Set(
        ConsolePage.all.map(\.path) + ConsoleAction.all.map(\.path)
            + [signInPath, signOutPath, mediaPath, eventsPath, samplePath])

    /// Bytes of a form: a category has at most 64 KiB, and is percent-encoded.
    private static let formLimit: Int64 = 256 << 10
    /// Tries to sign in that are carried out at once.
    private static let tries: Int64 = 5

    let service: Service
    let answers: EndpointAnswers
    private let access: ConsoleAccess
    private let signingIn = AsyncSemaphore(capacity: tries)
    private let watch = CredentialWatch()

    init(_ service: Service, _ answers: EndpointAnswers) {
        self.service = service
        self.answers = answers
        access = ConsoleAccess(publicURL: service.settings.publicURL)
    }

    func add(to router: Router<ServiceContext>) {
        guard service.settings.hasConsole, service.settings.role.takesRequests else { return }
        for page in ConsolePage.all {
            on(router, .get, page.path) { request, context in
                try await visit(request, context) { visit in try await show(page, visit) }
            }
        }
        for action in ConsoleAction.all {
            on(router, .post, action.path) { request, context in
                try await visit(request, context) { visit in try await perform(action, visit) }
            }
        }
        on(router, .get, Self.mediaPath) { request, context in
            try await visit(request, context) { visit in try await ConsoleMedia(visit).response() }
        }
        on(router, .get, Self.eventsPath) { request, context in
            try await visit(request, context, byPerson: false) { visit in
                var headers: HTTPFields = [:]
                headers["Last-Event-ID"] = request.headers["Last-Event-ID"]
                return try await visit.api.response(.jobEvents, ["id": visit.parameter("id")], headers: headers)
            }
        }
        on(router, .get, Self.samplePath) { request, context in
            try await visit(request, context) { visit in try await CategorySample(visit).response() }
        }
        on(router, .get, Self.signInPath) { request, _ in try await signInPage(request) }
        on(router, .post, Self.signInPath) { request, context in try await signIn(request, context) }
        on(router, .post, Self.signOutPath) { request, _ in
            if let token = access.token(in: request) { try await service.records.signOut(token) }
            return redirect(to: Self.signInPath + "?done=\(ConsoleNote.signedOut.name)", cookie: access.cookie(nil))
        }
    }

    /// Answers, and where it can't, with a page that says why.
    private func on(
        _ router: Router<ServiceContext>, _ method: HTTPRequest.Method, _ path: String,
        _ handler: @escaping RouteTable.Handler
    ) {
        router.on(RouterPath(path), method: method) { [access] request, context in
            do {
                try access.check(request)
                return try await handler(request, context)
            } catch {
                let problem = Problem(describing: error)
                if problem.status.kind == .serverError {
                    context.logger.error("console failed", metadata: ["error": "\(error)", "route": "\(path)"])
                }
                return page(ConsoleContent(problem), nil)
            }
        }
    }

    // MARK: Visits

    private func visit(
        _ request: Request, _ context: ServiceContext, byPerson: Bool = true,
        _ body: (ConsoleVisit) async throws -> Response
    ) async throws -> Response {
        let isRefresh = request.headers["Satchel-Refresh"] != nil
        guard let token = access.token(in: request),
            let session = try await service.records.consoleSession(of: token, byPerson: byPerson && !isRefresh)
        else {
            let page = request.method == .get ? request.uri.string : "/console"
            return redirect(to: Self.signInPath + ConsoleAPI.query([("to", page)]))
        }
        var context = context
        // Looking is no act of a person's: no session lasts longer by it.
        context.credentials = Credentials(token: token, watch: watch) {
            try await service.records.consoleSession(of: token, byPerson: false) != nil
        }
        var visit = ConsoleVisit(
            service: service, api: ConsoleAPI(answers, session, context), session: session, request: request,
            context: context, now: try await service.records.now(),
            query: try Self.fields(request.uri.query.map { String($0) } ?? ""))
        // A form with files is read by what it is for.
        let isUpload = request.headers[.contentType]?.lowercased().hasPrefix("multipart/") ?? false
        if request.method == .post, !isUpload { visit.form = try await form(of: request) }
        do {
            return try await body(visit)
        } catch {
            return page(ConsoleContent(Problem(describing: error)), visit)
        }
    }

    private func form(of request: Request) async throws -> [String: String] {
        let body = try await IncomingBody(request, limit: Self.formLimit).collect()
        return try Self.fields(String(buffer: body))
    }

    private static func fields(_ text: String) throws(Problem) -> [String: String] {
        Dictionary(try Query(text).parameters.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private func show(_ page: ConsolePage, _ visit: ConsoleVisit) async throws -> Response {
        guard visit.api.may(page.needs) else { throw Problem.forbidden(page.needs) }
        return self.page(try await page.content(visit), visit, section: page.section)
    }

    private func perform(_ action: ConsoleAction, _ visit: ConsoleVisit) async throws -> Response {
        guard visit.api.may(action.needs) else { throw Problem.forbidden(action.needs) }
        let outcome = try await action.perform(visit)
        guard case .see(let path, let note) = outcome else {
            guard case .stay(let content) = outcome else { throw Problem.notFound }
            return page(content, visit)
        }
        visit.context.logger.notice(
            "console", metadata: ["did": "\(action.path)", "key": "\(visit.session.key ?? "a code")"])
        return redirect(to: path + (path.contains("?") ? "&" : "?") + "done=\(note.name)")
    }

    // MARK: Signing in

    private func signInPage(_ request: Request) async throws -> Response {
        let query = try Self.fields(request.uri.query.map { String($0) } ?? "")
        guard let code = query["code"] else {
            return page(
                SignInPage(to: Self.place(query["to"]), note: ConsoleNote(name: query["done"])).content, nil)
        }
        // Another site's link would sign in somebody as somebody else.
        if let site = request.headers["Sec-Fetch-Site"]?.lowercased(), !["none", "same-origin"].contains(site) {
            throw Problem.notOfTheConsole
        }
        let signedIn = try await signingIn.waiting {
            try await service.records.signIn(withCode: AccessToken(secretText: code))
        }
        guard let (session, token) = signedIn else {
            return page(SignInPage(alert: SignInPage.staleCode).content, nil)
        }
        return redirect(to: Self.start(of: session), cookie: access.cookie(token))
    }

    private func signIn(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let form = try await form(of: request)
        let place = Self.place(form["to"])
        let key = AccessToken(secretText: (form["key"] ?? "").trimmingSpace())
        // Each costs the same, so that nobody learns from how long it takes.
        let signedIn = try await signingIn.waiting { () async throws -> (ConsoleSession, AccessToken)? in
            guard let record = try await service.records.authenticate(key) else { return nil }
            return try await service.records.signIn(with: record)
        }
        guard let (session, token) = signedIn else {
            return page(SignInPage(to: place, alert: SignInPage.badKey).content, nil)
        }
        context.logger.notice("signed in to the console", metadata: ["key": "\(session.key ?? "a code")"])
        return redirect(to: place ?? Self.start(of: session), cookie: access.cookie(token))
    }

    /// The first page that somebody may see.
    private static func start(of session: ConsoleSession) -> String {
        let page = ConsolePage.all.first { page in
            !page.path.contains("{") && session.roles.contains(where: page.needs.permits)
        }
        return page?.path ?? "/console"
    }

    /// A page of the console; nil for anything else that a link may say.
    private static func place(_ text: String?) -> String? {
        guard let text, text == "/console" || text.hasPrefix("/console/") || text.hasPrefix("/console?"),
            !text.contains("\\"), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { return nil }
        return text
    }

    // MARK: Answers

    private func page(_ content: ConsoleContent, _ visit: ConsoleVisit?, section: ConsoleSection? = nil) -> Response {
        let policy = PagePolicy()
        return policy.console(ConsoleShell(content: content, section: section, visit: visit).html, content.status)
    }

    /// Seen by another request, which may be repeated.
    private func redirect(to path: String, cookie: String? = nil) -> Response {
        var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
        if let cookie { headers[.setCookie] = cookie }
        return Response(status: .seeOther, headers: headers)
    }
}

extension Problem {
    /// What whoever lacks the role for this is told.
    static func forbidden(_ endpoint: Endpoint) -> Problem {
        switch endpoint.access {
        case .key(let roles), .keyOrGrant(let roles): .forbidden(roles)
        case .anyone, .grant: .notFound
        }
    }
}

extension AsyncSemaphore {
    /// Does something while it has one of the places.
    fileprivate func waiting<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        _ = await acquire(1, until: nil)
        defer { release(1) }
        return try await body()
    }
}
