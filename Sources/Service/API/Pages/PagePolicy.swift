import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// What a browser lets one of the service's pages do: nothing that isn't the service's own.
struct PagePolicy: Sendable {
    /// Of the page's one `<style>`, in base64.
    let nonce: String

    init() {
        nonce = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }

    /// What all pages may: what is the service's own.
    ///
    /// - Parameter ancestors: Whose frames it may be in.
    private func own(within ancestors: String) -> String {
        [
            "default-src 'none'", "script-src 'self'", "style-src 'self' 'nonce-\(nonce)'", "img-src 'self' data:",
            "media-src 'self'", "connect-src 'self'", "form-action 'self'", "frame-src 'self'",
            "frame-ancestors \(ancestors)", "base-uri 'none'",
            "require-trusted-types-for 'script'", "trusted-types satchel",
        ].joined(separator: "; ")
    }

    /// A page of the console as an answer: in no frame, and nothing of other sites beside it.
    func console(_ html: HTMLText, _ status: HTTPResponse.Status) -> Response {
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: own(within: "'none'"),
            .xContentTypeOptions: "nosniff", "Referrer-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin", .crossOriginResourcePolicy: "same-origin",
        ]
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html.description)))
    }

    /// For a page that shows strangers' texts: it has an origin of its own, so that no script of it would reach anything.
    var sandboxed: String {
        own(within: "'self'") + "; sandbox allow-scripts allow-forms"
    }

    /// Such a page as an answer.
    func sandboxed(_ html: HTMLText, _ status: HTTPResponse.Status = .ok) -> Response {
        var headers = HTTPFields.anyOrigin
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = sandboxed
        headers[.xContentTypeOptions] = "nosniff"
        headers["Referrer-Policy"] = "no-referrer"
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html.description)))
    }
}

extension HTTPFields {
    /// For what any page may have, without credentials: one that has an origin of its own is a stranger to the service.
    static let anyOrigin: HTTPFields = {
        var fields = HTTPFields()
        fields[.accessControlAllowOrigin] = "*"
        fields[.crossOriginResourcePolicy] = "cross-origin"
        return fields
    }()
}

extension Response {
    /// What a browser asks before a page of another origin sends JSON.
    static func preflight(_ method: HTTPRequest.Method) -> Response {
        var headers = HTTPFields.anyOrigin
        headers[.accessControlAllowMethods] = method.rawValue
        headers[.accessControlAllowHeaders] = "content-type"
        headers[.accessControlMaxAge] = "86400"
        return Response(status: .noContent, headers: headers)
    }
}
