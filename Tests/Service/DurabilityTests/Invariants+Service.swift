import SatchelCore
import Foundation
import Stores

/// What a service said, by what it has to leave for the next one.
extension Invariants {
    func brokenUpload(_ guarantee: Guarantee.Content, in store: Store) async throws -> String? {
        switch guarantee {
        case .holds(let id, let bytes), .whole(let id, let bytes):
            guard let upload = try await store.records.upload(id, of: .local) else { return "an upload is lost" }
            guard upload.state != .open || upload.offset >= bytes.count else { return "an offset was taken back" }
            if case .whole = guarantee {
                let job = upload.terms.job
                guard upload.state == (job == nil ? .complete : .consumed) else {
                    return "an upload isn't whole any more"
                }
                guard upload.submittedJob == job?.id else { return "an upload was whole, and its job is lost" }
            }
            guard let kept = try await Self.bytes(of: upload, in: store) else { return nil }
            return kept.prefix(bytes.count) == bytes ? nil : "the bytes of an upload are others"
        case .abandoned(let id):
            let upload = try await store.records.upload(id, of: .local)
            return upload?.state == .cancelled
                ? nil : "an upload that was taken back is \(upload?.state.rawValue ?? "lost")"
        default: return nil
        }
    }

    /// As far as they count; nil where a job has made something of them, which it then has to have done once.
    private static func bytes(of upload: UploadRecord, in store: Store) async throws -> Data? {
        if let id = upload.submittedJob {
            let job = try await store.records.job(id, of: upload.tenant)
            let identifier = job?.attachments.first?.identifier
            let same = try await store.records.jobs(
                of: upload.tenant, where: RecordFilter(identifier: identifier), after: nil, limit: 10)
            guard same.elements.map(\.id) == [id] else { return Data() }
            if job?.state == .delivered { return nil }
        }
        let path = "\(store.directory)/spool/\(upload.source.rawValue)"
        guard Disk.exists(path) else { return Data() }
        return try Disk.read(path).prefix(Int(upload.offset))
    }

    func brokenNotification(_ guarantee: Guarantee.Content, in store: Store) async throws -> String? {
        switch guarantee {
        case .notifies(let id, let generation):
            guard let record = try await store.records.notification(id, of: .local) else {
                return "the notification \(id.rawValue) is lost"
            }
            return record.generation >= generation ? nil : "a change of \(id.rawValue) is lost"
        case .silent(let id):
            let record = try await store.records.notification(id, of: .local)
            return record?.state == .cancelled && record?.next == nil ? nil : "\(id.rawValue) was taken back, and fires"
        case .fired(let id):
            guard let made = firings[id] else { return "a firing was told that never came to an end" }
            let record = try await store.records.firing(made.number, of: made.notification, tenant: made.tenant)
            return record.map { Self.difference($0, made) } ?? "a firing of \(made.notification.rawValue) is lost"
        case .lists(let ids):
            let there = try await store.records.firings(of: .local, after: 0, limit: ids.count).map(\.id)
            return there == ids ? nil : "the list of firings begins with others"
        default: return nil
        }
    }

    /// What of a firing that has its payload is otherwise than it was made.
    static func difference(_ record: FiringRecord, _ made: FiringRecord) -> String? {
        let name = "the firing \(made.number) of \(made.notification.rawValue)"
        if record.id != made.id { return "\(name) is another" }
        if record.payload != made.payload || record.opens != made.opens { return "\(name) has another payload" }
        if record.place != made.place { return "\(name) has another place" }
        return record.scheduledAt == made.scheduledAt ? nil : "\(name) has another instant"
    }

    func brokenResponse(_ guarantee: Guarantee.Content, in store: Store) async throws -> String? {
        let (id, isAnswered): (String, Bool) =
            switch guarantee {
            case .took(let response): (response, false)
            case .answered(let response): (response, true)
            default: ("", false)
            }
        let there = try await store.records.responses(of: .local, to: nil, after: nil, limit: 100).elements
            .filter { $0.response.id == id }
        guard there.count == 1 else { return "a response is there \(there.count) times" }
        guard isAnswered, let made = responses[id] else { return nil }
        guard there[0].answer == made.answer else { return "a response has another answer" }
        return there[0].call == made.call ? nil : "a response is told of by another call"
    }
}
