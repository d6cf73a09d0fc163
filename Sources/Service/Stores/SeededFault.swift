internal import SatchelCore
internal import FoundationEssentials

/// A fault in the records of many nodes that `SATCHEL_SEEDED_FAULT` switches on, in debug builds alone: the history test has to find
/// each.
enum SeededFault: String, CaseIterable, Sendable {
    /// A late worker delivers what is another's by now.
    case claimNotCompared
    /// Who delivers again because the answer was lost takes its own delivery for another's.
    case deliveryNotRecognized
    /// Content that was opened once is given out again without a question.
    case cacheDecides
    /// Two nodes claim the same job.
    case claimWithoutLock
    /// Equal bytes are kept once, and count as one.
    case referencesNotCounted
    /// Firings get their places in the list before their turn to be committed has come.
    case placesGivenEarly
    /// Half of what has arrived of an upload is lost as another request begins.
    case offsetTakenBack

    #if DEBUG
        private static let chosen = ProcessInfo.processInfo.environment["SATCHEL_SEEDED_FAULT"].flatMap(Self.init)

        var isOn: Bool { self == Self.chosen }
    #else
        var isOn: Bool { false }
    #endif

    /// When a claim ends that is another's by now.
    static let endOfLost: Int64? = claimNotCompared.isOn ? 4_102_444_800_000 : nil

    // MARK: What goes into statements

    /// By what a held job is found, whose claim is `$1`.
    static func holding(_ claim: Claim) -> String {
        guard claimNotCompared.isOn else { return "claim = $1" }
        let job = "SELECT key FROM jobs WHERE tenant = '\(claim.tenant.rawValue)' AND id = '\(claim.job.rawValue)'"
        return "claim = $1 OR job = (\(job))"
    }

    /// Makes a claim, `$3`, that of a job that another has by now.
    static let takingClaim = """
        UPDATE queue SET claim = $3
        WHERE state = 'running' AND claim <> $3 AND job = (SELECT key FROM jobs WHERE tenant = $1 AND id = $2)
        """

    /// By what one's own delivery is found, whose claim is `$3`.
    static let delivered = deliveryNotRecognized.isOn ? "delivered_claim = $3 AND false" : "delivered_claim = $3"

    /// What a blob's references come to that is delivered again.
    static let references = referencesNotCounted.isOn ? "blobs.refs" : "blobs.refs + excluded.refs"

    /// Takes `$2` places at the end of the list of the tenant `$1`, and locks it.
    static let takingPlaces =
        placesGivenEarly.isOn
        ? "SELECT pg_sleep(random()) WHERE $1::text <> '' AND $2::bigint > 0"
        : """
        INSERT INTO tenants (tenant, last_place) VALUES ($1, $2)
        ON CONFLICT (tenant) DO UPDATE SET last_place = tenants.last_place + excluded.last_place
        """

    /// The place before the `$3` that the tenant `$1` got last.
    static let firstPlace =
        placesGivenEarly.isOn
        ? "(SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint WHERE $1::text <> '' AND $3::bigint > 0)"
        : "(SELECT last_place FROM tenants WHERE tenant = $1) - $3::bigint"

    /// How what is claimed is locked. Without a lock there is time for another to do the same.
    static let lock =
        claimWithoutLock.isOn ? "OFFSET (SELECT 0 FROM pg_sleep(0.3))" : "FOR NO KEY UPDATE SKIP LOCKED"
}
