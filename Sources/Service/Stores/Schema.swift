/// The tables that keep the records, and the steps from one version of them to the next.
///
/// ``RecordSchema`` has the tables of both engines. `S` marks tables of SQLite alone, which ``SQLiteSchema`` has, `P` those of
/// PostgreSQL alone, which ``PostgresSchema`` has.
///
///     Store
///     store                    S  the latest instant that a write was given
///     schema_version           P  the version of the schema, and the oldest program that may use it
///     migration                P  one row, locked by the program that upgrades the schema
///
///     Jobs
///     profiles                    each profile that a job uses, once
///     jobs                        a job: what was asked for, its state and its times
///     queue                       a job that isn't finished: its place in line, its claim and its submission
///     attachments                 an attachment of a job: its state, and what is shown of it as JSON
///     labels                      pairs of a job's metadata by which the job is found
///     virtual_time                the greatest rank that was claimed, by lane and priority
///     idempotency_keys            keys of submissions, which name their job for a day
///     retained_submissions        submissions of jobs that failed, for another try
///     retained_sources            sources that such a submission needs
///     usage                       what a tenant uses up: bytes, unfinished jobs, open leases
///     counters                    the same for all tenants together
///     tallies                     how many attachments ended how, by the minute
///
///     Bytes
///     blobs                       one name for equal bytes of a tenant, and how many renditions refer to it
///     renditions                  the renditions of an attachment: type, size, duration, blob and key
///     tombstones                  blobs whose bytes were removed or are about to be; none may be referred to again
///
///     Access
///     access                      grants, leases and links; tokens are derived from their ids
///     api_keys                    the hash of each API key, with its roles
///     console_sessions            browsers that are signed in to the console, and codes to sign in with
///     audit                       changes of access, and their actors
///
///     Notifications
///     tenants                     a tenant's places in lists, signing secrets, and removal
///     pending_notifications       how many notifications of a tenant are pending
///     categories                  categories of notifications, as JSON
///     notifications               a notification: its state, its next instant, and its record as JSON
///     notification_media          attachments that a notification shows, which retention leaves alone
///     notification_sources        what media are made from that are prepared or tried again later
///     firings                     one firing of a notification
///     tickets                     tickets that open a notification's preview or its responses
///     response_sessions           one notification that was opened on one device
///     responses                   responses to notifications; they outlive their tickets
///
///     Transfers
///     uploads                     an upload: its state, its offset and its terms
///     upload_usage                open uploads of a tenant, and their bytes
///     calls                       calls to receivers: ends of jobs, and messages
///
///     Cluster
///     nodes                    P  nodes and commands that live, by their heartbeats
///     run_nodes                   runs of a command, and the nodes that take part
///     runs                     P  runs that several machines share
///     leaders                  P  the node that does a task for all
///     garbage                  P  bytes that a transaction made superfluous, until they are removed
///     copies, copied_objects   P  how far the copy of another store is
enum Schema {
    /// The steps from each version to the next. A new store takes all of them.
    ///
    /// Version 1 may change until release 0.1.0. After that, a change is another step.
    static let steps = [
        SchemaStep(
            version: 1, summary: "Creates the tables.", leastNode: 1, sqlite: SQLiteSchema.tables,
            postgres: [.together(PostgresSchema.tables)])
    ]

    /// The version that this program makes and uses.
    static var version: Int { steps.last?.version ?? 0 }
}

/// The step to a version of the schema from the one before, for both engines.
struct SchemaStep: Sendable {
    var version: Int
    /// What it brings, in one sentence.
    var summary: String
    /// The oldest program, by its own schema's version, that may open records in PostgreSQL once this has begun. A file of
    /// SQLite is upgraded only while no other process has the store open.
    var leastNode: Int
    /// Statements, for one transaction. References are checked at its end.
    var sqlite: String
    /// A step that nodes of the version before can work beside only adds.
    var postgres: [PostgresPart]

    enum PostgresPart: Sendable {
        /// The statements of the step, in one transaction.
        case together([String])
        /// An index, made beside others' writes and so outside of a transaction. What is left of an attempt that was cut
        /// off goes first: PostgreSQL would keep it, and never use it.
        case index(String, on: String)
        /// Again and again, until it changes no row.
        case repeated(String)
    }
}

/// What an upgrade of a store's schema would do.
public struct SchemaPlan: Hashable, Sendable {
    public struct Step: Hashable, Sendable {
        /// The version after the step.
        public var version: Int
        public var summary: String
    }

    /// The version that is there; 0 where there are no tables.
    public var version: Int
    public var steps: [Step]

    init(from version: Int, _ steps: [SchemaStep] = Schema.steps) {
        self.version = version
        self.steps = steps.filter { $0.version > version }.map { Step(version: $0.version, summary: $0.summary) }
    }
}
