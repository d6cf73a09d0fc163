import SatchelCore
import HTTPTypes
import Platform
import Stores
import Synchronization

/// Decides whether a submission may come in, before any of its body is read.
///
/// Counts what this process receives, and of rates its share; the queue and the quotas are the records' to know.
public final class AdmissionController: Sendable {
    /// Bodies that are being received.
    private struct Received {
        var bodies = 0
        /// Bytes that they have announced, or brought where they announced nothing.
        var bytes: Int64 = 0
    }

    private struct State {
        var received: [TenantID: Received] = [:]
        var known: KnownCapacity?
        /// Bytes of uploads that came since the last look, which sees them.
        var uploaded: Int64 = 0
        var buckets: [TenantID: TokenBucket] = [:]

        var uploads: Int { received.values.reduce(0) { $0 + $1.bodies } }
        var underway: Int64 { received.values.reduce(0) { $0 + $1.bytes } }
    }

    /// What the store has, looked at a moment ago.
    private struct KnownCapacity {
        var capacity: StoreCapacity
        var at: ContinuousClock.Instant
    }

    /// How old a look at the store may be: a listing of the sources costs a call per file.
    private static let lookInterval: Duration = .seconds(1)

    let store: Store
    private let settings: ServiceSettings
    private let state = Mutex(State())

    init(store: Store, settings: ServiceSettings) {
        self.store = store
        self.settings = settings
    }

    /// Bodies that are being received.
    public var uploads: Int { state.withLock { $0.uploads } }

    /// Whether a submission of the tenant would be taken now; it counts towards its rate.
    ///
    /// - Throws: A problem with the status 429 and a `Retry-After`.
    func admit(_ tenant: TenantID) async throws {
        try take(from: tenant)
        try await store.records.admit(tenant, settings.submissions(of: tenant))
    }

    private func take(from tenant: TenantID) throws(Problem) {
        guard let rate = settings.tenantQuotas[tenant].submissionsPerMinute else { return }
        let nodes = store.records.nodes
        let wait = state.withLock { state -> Duration? in
            let now = ContinuousClock.now
            // A bucket that is full again says no more than none.
            if state.buckets.count > 1000 { state.buckets = state.buckets.filter { !$0.value.isFull(at: now) } }
            return state.buckets[tenant, default: TokenBucket(rate: Double(rate) / 60, burst: Double(rate), at: now)]
                .take(nodes, at: now)
        }
        guard let wait else { return }
        var problem = Problem(
            .tooManyRequests, "rate_limited",
            "This tenant can submit \(rate) times per minute. Wait for the seconds in 'Retry-After'.",
            headers: [.retryAfter: "\(Int(wait.inSeconds.rounded(.up)))", .connection: "close"])
        problem.headers.append(contentsOf: rateFields(of: tenant))
        throw problem
    }

    /// What the tenant's limit leaves, as draft-ietf-httpapi-ratelimit-headers has it; empty without a limit.
    func rateFields(of tenant: TenantID) -> HTTPFields {
        guard let rate = settings.tenantQuotas[tenant].submissionsPerMinute else { return [:] }
        let bucket = state.withLock { $0.buckets[tenant]?.state(at: .now) } ?? (Double(rate), .zero)
        let rest = Int(bucket.level) / max(store.records.nodes, 1)
        return [
            "RateLimit-Policy": "\"submissions\";q=\(rate);w=60",
            "RateLimit": "\"submissions\";r=\(rest);t=\(Int(bucket.fullAfter.inSeconds.rounded(.up)))",
        ]
    }

    /// Takes a place to receive a body.
    ///
    /// - Parameter announced: Its bytes, where they are known.
    /// - Returns: The place, which the caller leaves.
    /// - Throws: A problem with the status 429 or 507 where there is no room for this tenant.
    func enter(_ announced: Int64?, of tenant: TenantID) async throws -> UploadPlace {
        let room = try await look()
        let limits = settings.intake
        guard room.free - (announced ?? 0) >= limits.freeBytes else {
            throw Problem(
                HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "store_full",
                "The service's disk is nearly full. Its operator must free space. Try again later.",
                headers: [.connection: "close"])
        }
        let isTaken = state.withLock { state in
            var own = state.received[tenant] ?? Received()
            let free = limits.spoolBytes - room.waiting - state.underway
            guard TenantShare.allows(1, beside: own.bodies, of: limits.uploads - state.uploads),
                TenantShare.allows(announced ?? 0, beside: own.bytes, of: free)
            else { return false }
            own.bodies += 1
            own.bytes += announced ?? 0
            state.received[tenant] = own
            return true
        }
        guard isTaken else {
            throw Problem(
                .tooManyRequests, "queue_full",
                "Too many uploads are being received or waiting. Try again later.",
                headers: [.retryAfter: "2", .connection: "close"])
        }
        return UploadPlace(gate: self, tenant: tenant, announced: announced)
    }

    fileprivate func leave(_ bytes: Int64, of tenant: TenantID) {
        state.withLock { state in
            state.received[tenant]?.bodies -= 1
            state.received[tenant]?.bytes -= bytes
            if state.received[tenant]?.bodies == 0 { state.received[tenant] = nil }
            // What was received is a source that waits now, or gone: look again before long.
            state.known?.capacity.waiting += bytes
        }
    }

    /// - Throws: A problem with the status 429 where there is no room for this tenant.
    fileprivate func grow(by bytes: Int64, of tenant: TenantID) throws(Problem) {
        let fits = state.withLock { state in
            let free = settings.intake.spoolBytes - (state.known?.capacity.waiting ?? 0) - state.underway
            let own = state.received[tenant]?.bytes ?? 0
            state.received[tenant]?.bytes += bytes
            return TenantShare.allows(bytes, beside: own, of: free)
        }
        guard fits else {
            throw Problem(
                .tooManyRequests, "queue_full", "Too many bytes are waiting to be processed. Try again later.",
                headers: [.retryAfter: "2", .connection: "close"])
        }
    }

    private func look() async throws -> StoreCapacity {
        // One looks again, the others go by what there is meanwhile.
        let known = state.withLock { state -> StoreCapacity? in
            let now = ContinuousClock.now
            guard let known = state.known, now - known.at >= Self.lookInterval else { return state.known?.capacity }
            state.known?.at = now
            return nil
        }
        if let known { return known }
        let capacity = try await store.capacity()
        state.withLock { state in
            state.known = KnownCapacity(capacity: capacity, at: .now)
            state.uploaded = 0
        }
        return capacity
    }

    /// Whether there is room for so many bytes more.
    ///
    /// - Parameter added: Those among them that come now, and lie in the spool from then on.
    func hasRoom(for bytes: Int64 = 0, adding added: Int64 = 0) async throws -> Bool {
        let room = try await look()
        return state.withLock { state in
            state.uploaded += added
            return room.free >= settings.intake.freeBytes
                && room.waiting + state.underway + state.uploaded + bytes <= settings.intake.spoolBytes
        }
    }

    /// Has the next look see what there is.
    func forget() {
        state.withLock { $0.known = nil }
    }
}

/// The place of an upload that is being received.
final class UploadPlace: Sendable {
    private let gate: AdmissionController
    fileprivate let tenant: TenantID
    private let announced: Int64?
    private let grown = Mutex<Int64>(0)

    fileprivate init(gate: AdmissionController, tenant: TenantID, announced: Int64?) {
        self.gate = gate
        self.tenant = tenant
        self.announced = announced
    }

    /// Bytes of the body came.
    ///
    /// - Throws: A problem where nobody knew how many there would be, and there is no room for more.
    func received(_ bytes: Int) throws(Problem) {
        guard announced == nil else { return }
        grown.withLock { $0 += Int64(bytes) }
        try gate.grow(by: Int64(bytes), of: tenant)
    }

    func leave() { gate.leave(announced ?? grown.withLock(\.self), of: tenant) }
}

/// Room for uploads. Received bytes count, and some bytes for each open upload, but never an announced length. A full spool
/// first ends uploads that no client continues.
extension AdmissionController {
    /// An upload that got nothing for so long gives way.
    private static let idle: Duration = .seconds(3600)

    /// Whether an upload may be opened, or gone on with.
    ///
    /// - Throws: A problem with the status 507 where there is no room.
    func admitUpload(opening: Bool = false) async throws {
        try await makeRoom(opening: opening)
    }

    /// Bytes of an upload came.
    ///
    /// - Throws: The same.
    func takeUpload(_ bytes: Int) async throws {
        if try await hasRoom(adding: Int64(bytes)) { return }
        try await makeRoom(opening: false)
    }

    private func makeRoom(opening: Bool) async throws {
        // Each upload that ends leaves fewer that need room.
        while try await !hasRoom(for: opening ? reserved() : 0) {
            guard try await store.records.endUploads(.idle(Self.idle), limit: 1) > 0 else {
                throw Problem(
                    HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "store_full",
                    "The service's disk is nearly full. Bytes received so far are kept. Continue later.",
                    headers: [.retryAfter: "60", .connection: "close"])
            }
            forget()
        }
    }

    /// The room for all open uploads, and one more.
    private func reserved() async throws -> Int64 {
        Int64(try await store.records.uploadUsage(of: nil).open + 1) * UploadUsage.reserved
    }
}
