import Attachments
import HTTPTypes
import Hummingbird
import NIOCore
import Payloads

/// Push payloads, enriched.
struct PayloadRoutes: Sendable {
    /// Bytes of a body; more than any push may have, so that its length is judged by what APNs takes.
    private static let bodyLimit: Int64 = 64 << 10

    let service: Service
    private let pointers: [JSONPointer]

    init(service: Service) {
        self.service = service
        pointers = service.settings.payloadPointers.compactMap(JSONPointer.init)
    }

    func add(to table: RouteTable) {
        table.on(.enrichPayload) { request, context in
            let wishes = try PayloadRequest(request)
            let body = try await IncomingBody(request, limit: Self.bodyLimit).collect()
            let payload: PushPayload
            do throws(PayloadError) {
                payload = try PushPayload(Array(body.readableBytesView), type: wishes.pushType, pointers: pointers)
            } catch {
                throw Problem(error)
            }
            let profile = try await profile(of: payload, wishes, context.tenant)
            guard !payload.media.isEmpty else { return response(payload.bytes) }
            let enriching = PayloadEnriching(
                service: service, payload: payload, wishes: wishes, profile: profile, tenant: try context.tenant,
                traceparent: context.trace.header)
            let result = try await enriching.result()
            return response(result.payload.bytes, headers: result.headers)
        }
    }

    /// The caller's choice, else that of the payload's category, else the one to which the settings map that.
    private func profile(
        of payload: PushPayload, _ wishes: PayloadRequest, _ tenant: TenantID
    ) async throws -> Profile {
        if let name = wishes.profile {
            guard let profile = service.profile(named: name) else {
                throw Problem.invalid(
                    "profile",
                    "There is no such profile. There are \(service.profiles.map(\.name).joined(separator: ", ")).")
            }
            return profile
        }
        var names = [Profile.notification.name]
        if let id = payload.category {
            if let mapped = service.settings.categories[id] { names.insert(mapped, at: 0) }
            // No other text is a category's id.
            if id.isClientID, let own = try await service.records.category(id, of: tenant)?.profile {
                names.insert(own, at: 0)
            }
        }
        return names.lazy.compactMap(service.profile).first ?? .notification
    }

    private func response(_ payload: [UInt8], headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: payload)))
    }
}

extension Problem {
    /// What a payload that can't be taken or enriched means as an answer.
    init(_ error: PayloadError) {
        switch error {
        case .invalidJSON:
            self.init(.badRequest, "invalid_json", error.message)
        case .notAnObject:
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
