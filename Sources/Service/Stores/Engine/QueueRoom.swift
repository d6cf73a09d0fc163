/// How many jobs waited when a node last looked, and what it has added since.
///
/// How many there are is the sum of some rows, of which every submission and every end leaves another version behind. While something
/// holds back the vacuum these stay, and each look would walk over all of them. So one look serves many submissions: the room
/// that it found is divided among the nodes that take requests, and a node looks again when its share is used up, or after
/// ``interval``. One that is alone passes the limit by nothing, others together by no more than came within that time.
struct QueueRoom: Sendable {
    /// What there was when somebody began to look.
    struct Look: Sendable {
        fileprivate var at: ContinuousClock.Instant
        fileprivate var added: Int
        fileprivate var freed: Int
    }

    private struct Found {
        var limit: Int
        var waiting: Int
        /// As many may be added before the next look.
        var share: Int
        var look: Look
    }

    /// Between two looks while there is room.
    var interval: Duration = .seconds(1)
    /// The same while there is none: who makes some on another node shouldn't be idle for long.
    var shortInterval: Duration = .milliseconds(100)

    private var found: Found?
    /// By this node, since it lives.
    private var added = 0
    /// How often this node may have made room.
    private var freed = 0

    /// How many wait, as far as it matters for so many new ones; nil where that has to be looked for.
    func waiting(under limit: Int, before count: Int, at now: ContinuousClock.Instant) -> Int? {
        guard let found, found.limit == limit else { return nil }
        guard found.waiting < limit else {
            let isStill = found.look.freed == freed && now - found.look.at < shortInterval
            return isStill ? found.waiting : nil
        }
        let own = added - found.look.added
        guard own + count <= found.share, now - found.look.at < interval else { return nil }
        return found.waiting + own
    }

    /// To be called before it is asked how many wait: what is added meanwhile may count twice, until the next look.
    func look(at now: ContinuousClock.Instant) -> Look { Look(at: now, added: added, freed: freed) }

    /// Notes what was found.
    ///
    /// - Parameter nodes: Those that add as this one does.
    mutating func note(_ waiting: Int, under limit: Int, among nodes: Int, by look: Look) {
        // Another look may have begun later, and come back sooner.
        if let found, found.limit == limit, found.look.at > look.at { return }
        found = Found(limit: limit, waiting: waiting, share: max(0, limit - waiting) / max(1, nodes), look: look)
    }

    /// Notes by how many this node has changed the number.
    mutating func change(by jobs: Int) {
        if jobs > 0 { added += jobs }
        if jobs < 0 { freed += 1 }
    }

    /// Notes that this node has taken some of those that waited.
    mutating func free() { freed += 1 }
}
