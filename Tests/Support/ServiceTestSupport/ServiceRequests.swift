public import Foundation
import FoundationNetworking
public import TestSupport
import Testing

/// Somebody who asks a service over HTTP.
public protocol ServiceRequests {
    var url: URL { get }
    /// What requests bear; nil: nothing.
    var key: String? { get }
}

/// The same without the process, for other tasks.
public struct ServiceRequester: ServiceRequests, Sendable {
    public var url: URL
    public var key: String?

    public init(url: URL, key: String?) {
        (self.url, self.key) = (url, key)
    }
}

/// What a service answered.
public struct ServiceAnswer: Sendable {
    public var status: Int
    public var data: Data
    /// Names in lower case.
    var headers: [String: String]

    public var text: String { String(decoding: data, as: UTF8.self) }
    public var json: [String: Any] {
        get throws { try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(text)") }
    }

    public subscript(_ header: String) -> String? { headers[header.lowercased()] }
}

private let session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 64
    return URLSession(configuration: configuration)
}()

extension ServiceRequests {
    public func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: Data? = nil, key: String? = nil,
        timeout: TimeInterval = 60
    ) async throws -> ServiceAnswer {
        // Not as a component: that would escape the question mark.
        var request = URLRequest(url: try #require(URL(string: url.absoluteString + path)), timeoutInterval: timeout)
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let key = key ?? self.key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await session.data(for: request)
        let answered = try #require(response as? HTTPURLResponse)
        var fields: [String: String] = [:]
        for (name, value) in answered.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name.lowercased()] = value }
        }
        return ServiceAnswer(status: answered.statusCode, data: data, headers: fields)
    }

    public func get(
        _ path: String, _ headers: [String: String] = [:], key: String? = nil
    ) async throws -> ServiceAnswer {
        try await send("GET", path, headers, key: key)
    }

    /// Whether a key opens anything.
    public func accepts(_ key: String? = nil) async throws -> Bool {
        try await get("/metrics", key: key).status != 401
    }

    /// Submits a job of one source by URL.
    public func submit(
        _ id: String, _ source: String, _ headers: [String: String] = [:], more: [String: Any] = [:],
        attachment: [String: Any] = [:]
    ) async throws -> ServiceAnswer {
        var body = more
        body["attachments"] = [attachment.merging(["identifier": "photo", "url": source]) { $1 }]
        return try await send(
            "PUT", "/v1/jobs/\(id)", headers.merging(["Content-Type": "application/json"]) { $1 },
            body: JSONSerialization.data(withJSONObject: body))
    }

    /// The job when it has come to its end.
    public func finished(_ id: String, within limit: Duration = patience) async throws -> [String: Any] {
        try await whenFound("the end of job \(id)", within: limit) {
            let answer = try await get("/v1/jobs/\(id)")
            guard answer.status == 200 else { return nil }
            let job = try answer.json
            return ["delivered", "failed", "cancelled"].contains(job["state"] as? String) ? job : nil
        }
    }
}
