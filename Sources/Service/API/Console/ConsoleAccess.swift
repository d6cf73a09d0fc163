import SatchelCore
import HTTPTypes
import Hummingbird

/// Whether a request is one of the console's own pages', and who is signed in: what is decided from its headers alone.
struct ConsoleAccess: Sendable {
    /// Scheme, host and port of the public URL, in lower case.
    private let origin: String
    private let isSecure: Bool

    init(publicURL: String) {
        let parts = publicURL.lowercased().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        origin = parts.prefix(3).joined(separator: "/")
        isSecure = publicURL.lowercased().hasPrefix("https://")
    }

    /// - Throws: 403, off loopback without TLS: a cookie would go over the network for anybody to read. A name that was made
    ///   to lead to this machine is none of loopback's.
    func check(_ request: Request) throws(Problem) {
        guard isSecure || KeylessAccess.isLoopback(request.head.authority) else { throw .consoleNeedsTLS }
        guard request.method == .get || isOwn(request) else { throw .notOfTheConsole }
    }

    /// Whether a form is one of ours. Another port of the same host is not (`same-site`).
    private func isOwn(_ request: Request) -> Bool {
        if let site = request.headers["Sec-Fetch-Site"] { return site.lowercased() == "same-origin" }
        return request.headers[.origin]?.lowercased() == origin
    }

    // MARK: The cookie

    /// With TLS a browser takes it from this host alone, over TLS alone (RFC 6265bis, `__Host-`).
    private var cookieName: String { isSecure ? "__Host-satchel" : "satchel" }

    func token(in request: Request) -> AccessToken? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingSpace() == cookieName else { continue }
            return AccessToken(secretText: String(parts[1].trimmingSpace()))
        }
        return nil
    }

    /// What `Set-Cookie` says; nil takes it back.
    func cookie(_ token: AccessToken?) -> String {
        let age = token == nil ? 0 : ConsoleLimits.session.components.seconds
        return "\(cookieName)=\(token?.secretText ?? ""); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }
}

extension Problem {
    static let consoleNeedsTLS = Problem(
        .forbidden, "forbidden",
        "The console is only available on localhost, or if public_url begins with https. Set public_url, or open the console at localhost through a tunnel."
    )

    static let notOfTheConsole = Problem(
        .forbidden, "forbidden", "This request did not come from the console. Open the console and try again.")
}
