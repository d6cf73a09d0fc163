public import SatchelCore
public import FoundationEssentials
import Payloads
import Stores

/// What is kept of a tenant, as the API shows it, without what opens anything: no token, key or secret is in it.
public struct TenantExport: Sendable {
    /// Of one kind of records, all.
    public enum List: String, Sendable, CaseIterable {
        case jobs
        case attachments
        case notifications
        case firings
        case responses
        case categories
        case calls
        case uploads
        case keys
        case audit
    }

    /// Records that are read at once.
    private static let page = 100

    private let service: Service
    private let tenant: TenantID

    public init(of tenant: TenantID, from service: Service) {
        self.service = service
        self.tenant = tenant
    }

    /// Gives each record of a list as a line of JSON, without its end.
    public func lines(of list: List, _ take: (Data) throws -> Void) async throws {
        let records = service.records
        func each<Element>(
            of page: (_ cursor: String?) async throws -> Page<Element>,
            as body: (Element) async throws -> some Encodable
        ) async throws {
            try await Page.forEach(of: page) { try take(line(try await body($0))) }
        }
        switch list {
        case .jobs:
            try await each {
                try await records.jobs(of: tenant, where: RecordFilter(), after: $0, limit: Self.page)
            } as: {
                service.body(of: $0, access: [])
            }
        case .attachments:
            try await attachments { try take(line(service.document(of: $0, access: nil))) }
        case .notifications:
            // One that repeats may be in both lists.
            var told: Set<NotificationID> = []
            for list in NotificationList.allCases {
                try await Page.forEach(of: {
                    try await records.notifications(of: tenant, in: list, category: nil, after: $0, limit: Self.page)
                }) { record in
                    guard told.insert(record.id).inserted else { return }
                    try take(line(try await service.body(of: record)))
                }
            }
        case .firings:
            var place: Int64 = 0
            while true {
                let firings = try await records.firings(of: tenant, after: place, limit: Self.page)
                for firing in firings { try take(line(try await service.document(firing))) }
                guard let last = firings.last?.place else { return }
                place = last
            }
        case .responses:
            try await Page.forEach(of: {
                try await records.responses(of: tenant, to: nil, after: $0, limit: Self.page)
            }) {
                try take(line(try await service.document(of: $0)))
            }
        case .categories:
            for category in try await records.categories(of: tenant) { try take(line(category)) }
        case .calls:
            try await each {
                try await records.calls(of: tenant, where: CallFilter(), after: $0, limit: Self.page)
            } as: {
                $0.shown
            }
        case .uploads:
            try await each {
                try await records.uploads(of: tenant, in: nil, after: $0, limit: Self.page)
            } as: {
                $0.shown
            }
        case .keys:
            try await each {
                try await records.keys(of: tenant, after: $0, limit: Self.page)
            } as: {
                $0.shown
            }
        case .audit:
            try await each {
                try await records.audit(of: tenant, where: AuditFilter(), after: $0, limit: Self.page)
            } as: {
                $0
            }
        }
    }

    /// All attachments, newest first.
    public func attachments(_ take: (AttachmentRecord) async throws -> Void) async throws {
        try await Page.forEach(of: {
            try await service.records.attachments(of: tenant, where: RecordFilter(), after: $0, limit: Self.page)
        }) { try await take($0) }
    }

    private func line(_ value: some Encodable) throws -> Data { Self.withoutSecrets(try JSON.encode(value)) }

    private func line(_ value: JSONValue) -> Data { Self.withoutSecrets(Data(value.bytes)) }

    /// What was handed over has links and tickets in it. Their ids stay, by which records tell of them. Of what renditions are
    /// encrypted with only the key is left out.
    static func withoutSecrets(_ line: Data) -> Data {
        let marks = TokenKind.allCases.map(\.rawValue) + ["\"encryption\"", "\"preview_encryption\""]
        var text = String(decoding: line, as: UTF8.self)
        guard marks.contains(where: text.contains) else { return line }
        // Prefix and id, then the secret and the checksum: see `TokenFormat`.
        text.replace(/(sat[a-z]_[0-9A-Za-z]{22})[0-9A-Za-z]{49}/) { "\($0.1)…" }
        // 32 bytes in base64, and 44 or 48 in hexadecimal: see `MediaEncryption`.
        text.replace(/"k":\s*"[0-9A-Za-z_-]{43}"/) { _ in "\"k\":\"\"" }
        text.replace(/"fragment":\s*"[0-9a-f]{88,96}"/) { _ in "\"fragment\":\"\"" }
        return Data(text.utf8)
    }
}
