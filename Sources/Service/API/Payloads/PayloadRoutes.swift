import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Payloads

/// Push payloads, enriched: a call for each format.
struct PayloadRoutes: Sendable {
    /// Bytes of a body; more than any push may have, so that its length is judged by what the service takes.
    private static let bodyLimit: Int64 = 64 << 10

    let service: Service
    func add(to table: RouteTable) {
        for format in PayloadFormat.allCases {
            table.on(.enrichPayload(format)) { request, context in try await enrich(request, format, context) }
        }
    }

    private func enrich(
        _ request: Request, _ format: PayloadFormat, _ context: ServiceContext
    ) async throws -> Response {
        let wishes = try PayloadRequest(request, format)
        let body = try await IncomingBody.json(of: request, limit: Self.bodyLimit, needsType: true)
        let payload: PushPayload
        do throws(PayloadError) {
            payload = try PushPayload(
                Array(body.readableBytesView), format: format, type: wishes.pushType,
                pointers: service.payloadPointers + wishes.pointers)
        } catch {
            throw Problem(error)
        }
        let profile = try await service.payloadProfile(
            named: wishes.profile, category: payload.category, of: context.tenant)
        guard !payload.media.isEmpty else {
            let headers = PayloadHeaders(media: [], outcomes: [], dropped: [], urls: payload.urlPlaces)
            return .json(Data(payload.bytes), headers: headers.fields)
        }
        let enriching = PayloadEnriching(
            service: service, payload: payload, wishes: wishes, profile: profile, tenant: try context.tenant,
            traceparent: context.trace.header)
        let result = try await enriching.result()
        return .json(Data(result.payload.bytes), headers: result.headers)
    }
}

extension Service {
    /// Places of media in payloads, beside the known conventions.
    var payloadPointers: [JSONPointer] { settings.payloadPointers.compactMap(JSONPointer.init) }

    /// The category that a payload names; nil where there is none of that id.
    func category(named id: String?, of tenant: TenantID) async throws -> Category? {
        // No other text is a category's id.
        guard let id, id.isClientID else { return nil }
        return try await records.category(id, of: tenant)
    }

    /// The profile of a payload's media: the caller's choice, else that of the payload's category, else the one to which the
    /// settings map that.
    func payloadProfile(named name: String?, category id: String?, of tenant: TenantID) async throws -> Profile {
        if let name {
            guard let profile = profile(named: name) else {
                throw Problem.invalid(
                    "profile", "Must be one of \(profiles.map(\.name).joined(separator: ", ")).")
            }
            return profile
        }
        var names = [Profile.notification.name]
        if let id {
            if let mapped = settings.categories[id] { names.insert(mapped, at: 0) }
            if let own = try await category(named: id, of: tenant)?.profile { names.insert(own, at: 0) }
        }
        return names.lazy.compactMap(profile).first ?? .notification
    }
}

extension Problem {
    /// What a payload that can't be taken or enriched means as an answer.
    init(_ error: PayloadError) {
        switch error {
        case .invalidJSON:
            self.init(.badRequest, "invalid_json", error.message)
        case .notAMessage:
            self = .invalid(error.message)
        case .tooLarge:
            self.init(.contentTooLarge, "payload_too_large", error.message)
        case .mediumFailed(let medium, let failure):
            self.init(
                .unprocessableContent, failure.code, error.message,
                errors: [Field(pointer: medium.pointer.description, detail: "\(failure.code): \(failure.message)")])
        }
    }
}
