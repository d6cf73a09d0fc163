import SatchelCore
import TestSupport
import Testing

@Suite struct AccessOriginTests {
    private static let now = Instant(milliseconds: 5_000)
    private static let tenant = TenantID(rawValue: "ada")
    private static let attachment = AttachmentID(rawValue: "photo")

    private static func derive(
        _ kind: AccessEntry.Kind, from origin: AccessOrigin, to wanted: [RenditionRole]?, for duration: Duration,
        leases: Int? = nil
    ) -> AccessEntry? {
        origin.derive(kind, id: "new", key: "key", to: wanted, for: duration, leaseLimit: leases, at: now)
    }

    /// Whatever is asked of whatever grant.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `what is derived from a grant is never wider, later or more than it`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let all: [RenditionRole] = [.main, .thumbnail, .poster, .original]
        func roles() -> [RenditionRole]? {
            Bool.random(using: &generator) ? nil : all.filter { _ in Bool.random(using: &generator) }
        }
        func time() -> Duration { .seconds(Int.random(in: -10...4_000_000, using: &generator)) }
        func leases() -> Int? { Bool.random(using: &generator) ? nil : Int.random(in: -1...40, using: &generator) }

        let owner = AccessOrigin.attachment(Self.attachment, of: Self.tenant)
        var grant = try #require(Self.derive(.grant, from: owner, to: roles(), for: time(), leases: leases()))
        for _ in 0..<4 {
            let wanted = roles()
            guard let child = Self.derive(.grant, from: .grant(grant), to: wanted, for: time(), leases: leases()) else {
                let covered = grant.renditions ?? []
                #expect((wanted ?? covered).filter(covered.contains).isEmpty)
                return
            }
            #expect(child.parent == grant.id && child.tenant == Self.tenant && child.attachment == Self.attachment)
            #expect(child.expiresAt <= grant.expiresAt)
            #expect((1...(grant.leaseLimit ?? 0)).contains(child.leaseLimit ?? 0))
            for role in all where child.opens(role) { #expect(grant.opens(role), "\(role)") }
            if let wanted { for role in all where child.opens(role) { #expect(wanted.contains(role)) } }
            grant = child
        }
    }

    @Test func `nothing lasts longer than 30 days, and nothing is given that ended before it began`() throws {
        let owner = AccessOrigin.attachment(Self.attachment, of: Self.tenant)
        let long = try #require(Self.derive(.link, from: owner, to: nil, for: .seconds(1 << 40)))
        #expect(long.expiresAt == Self.now + AccessLimits.longest)
        let past = try #require(Self.derive(.lease, from: owner, to: nil, for: .seconds(-5)))
        #expect(past.expiresAt == Self.now && !past.isLive(at: Self.now))
        #expect(long.isLive(at: Self.now))
    }

    @Test func `a lease under a grant opens what of it was asked for`() throws {
        let owner = AccessOrigin.attachment(Self.attachment, of: Self.tenant)
        let grant = try #require(
            Self.derive(.grant, from: owner, to: [.main, .thumbnail], for: .seconds(60), leases: 2))
        let lease = try #require(
            Self.derive(.lease, from: .grant(grant), to: [.thumbnail, .poster], for: .seconds(90)))
        #expect(lease.renditions == [.thumbnail] && lease.leaseLimit == nil)
        #expect(lease.expiresAt == grant.expiresAt)
        #expect(Self.derive(.lease, from: .grant(grant), to: [.poster], for: .seconds(9)) == nil)
        #expect(Self.derive(.lease, from: .grant(grant), to: nil, for: .seconds(9))?.renditions == grant.renditions)
    }
}
