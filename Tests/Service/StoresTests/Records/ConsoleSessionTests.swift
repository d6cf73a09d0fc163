import SatchelCore
import TestSupport
import Testing

@testable import Stores

@Suite struct ConsoleSessionTests {
    private let acme = TenantID(rawValue: "acme")

    @Test(arguments: Backend.allCases)
    func `a code is good once, for five minutes, and its session for an hour`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let (code, secret) = try await records.newConsoleCode(for: acme, roles: [.read])
        #expect(code.expiresAt == fixture.clock.now + .seconds(300))
        fixture.clock.advance(.seconds(299))
        let (session, cookie) = try #require(try await records.signIn(withCode: secret))
        #expect(session.tenant == acme)
        #expect(session.roles == [.read])
        #expect(session.key == nil)
        #expect(try await records.signIn(withCode: secret) == nil, "it was good once")
        #expect(try await records.signIn(withCode: cookie) == nil, "a cookie is no code")
        #expect(try await records.consoleSession(of: secret, byPerson: true) == nil, "a code is no cookie")
        #expect(try await fixture.reopened().records.consoleSession(of: cookie, byPerson: true) == session)

        let (_, late) = try await records.newConsoleCode(for: acme, roles: [.read])
        fixture.clock.advance(.seconds(300))
        #expect(try await records.signIn(withCode: late) == nil)
        for _ in 0..<5 {
            fixture.clock.advance(.seconds(600))
            _ = try await records.consoleSession(of: cookie, byPerson: true)
        }
        fixture.clock.advance(.seconds(299))
        #expect(try await records.consoleSession(of: cookie, byPerson: true) != nil)
        fixture.clock.advance(.seconds(1))
        #expect(try await records.consoleSession(of: cookie, byPerson: true) == nil, "an hour, however much it is used")
    }

    @Test(arguments: Backend.allCases)
    func `of many who take a code at once one has it`(backend: Backend) async throws {
        let records = try Fixture(backend).records
        let (_, secret) = try await records.newConsoleCode(for: acme, roles: [.admin])
        let signedIn = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { try await records.signIn(withCode: secret) == nil ? 0 : 1 }
            }
            return try await group.reduce(0, +)
        }
        #expect(signedIn == 1)
    }

    @Test(arguments: Backend.allCases)
    func `a session ends after twelve hours, an hour without a person, by itself and with its key`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let (key, _) = try await records.createKey(named: "k", for: acme, roles: [.submit, .read], lasting: nil)

        let (session, cookie) = try #require(try await records.signIn(with: key))
        #expect(session.key == key.id)
        #expect(session.roles == [.submit, .read])
        for _ in 0..<23 {
            fixture.clock.advance(.seconds(1800))
            #expect(try await records.consoleSession(of: cookie, byPerson: true)?.tenant == acme)
        }
        fixture.clock.advance(.seconds(1800))
        #expect(try await records.consoleSession(of: cookie, byPerson: true) == nil, "twelve hours")

        // A page that refreshes itself is nobody.
        let (_, idle) = try #require(try await records.signIn(with: key))
        for _ in 0..<3 {
            fixture.clock.advance(.seconds(1199))
            #expect(try await records.consoleSession(of: idle, byPerson: false) != nil)
        }
        fixture.clock.advance(.seconds(3))
        #expect(try await records.consoleSession(of: idle, byPerson: true) == nil)

        let (_, left) = try #require(try await records.signIn(with: key))
        try await records.signOut(left)
        try await records.signOut(left)
        #expect(try await records.consoleSession(of: left, byPerson: true) == nil)

        let (_, open) = try #require(try await records.signIn(with: key))
        _ = try await records.revokeKey(key.id)
        #expect(try await records.consoleSession(of: open, byPerson: true) == nil)
        #expect(try await records.signIn(with: key) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `a session doesn't outlive the end that its key has or is given`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let (key, _) = try await records.createKey(named: "k", for: acme, roles: [.read], lasting: .seconds(600))
        let (_, first) = try #require(try await records.signIn(with: key))
        _ = try await records.rotateKey(key.id, overlap: .seconds(60))
        fixture.clock.advance(.seconds(60))
        #expect(try await records.consoleSession(of: first, byPerson: true) == nil)

        let (other, _) = try await records.createKey(named: "o", for: acme, roles: [.read], lasting: .seconds(600))
        let (session, second) = try #require(try await records.signIn(with: other))
        #expect(session.endsAt == other.expiresAt)
        fixture.clock.advance(.seconds(600))
        #expect(try await records.consoleSession(of: second, byPerson: true) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `what is over is forgotten, and what lives is kept`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let (_, early) = try await records.newConsoleCode(for: acme, roles: [.read])
        _ = try #require(try await records.signIn(withCode: early))
        _ = try await records.newConsoleCode(for: acme, roles: [.read])
        fixture.clock.advance(.seconds(3600))
        let (_, late) = try await records.newConsoleCode(for: acme, roles: [.read])
        _ = try await records.expire(limit: 100, from: nil)
        #expect(try await records.signIn(withCode: late) != nil)
    }
}
