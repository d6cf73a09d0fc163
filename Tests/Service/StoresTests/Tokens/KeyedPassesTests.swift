import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

/// What nodes of one store know each other by.
@Suite struct KeyedPassesTests {
    private let subscription = EventSubscription(
        JobName(tenant: TenantID(rawValue: "ada"), job: JobID(rawValue: "a job.\u{2603}\n")), generation: 3)
    private let now = Instant(milliseconds: 1_763_720_100_000)

    @Test func `a pass is good for one node, one job and a minute, and only a node can prove itself`() throws {
        let directory = try TemporaryDirectory()
        let keys = try KeyRing(path: directory.path + "/keys")
        let here = KeyedPasses(keys: keys, node: "here")
        let there = KeyedPasses(keys: try KeyRing(path: directory.path + "/keys"), node: "there")
        let pass = try #require(here.pass(for: subscription, to: "there", at: now))
        let admitted = try #require(there.admit(pass.text, at: now))
        #expect(admitted.subscription == subscription && admitted.proof == pass.proof)
        #expect(!pass.text.contains(pass.proof))
        // Nor is it any other node's to take.
        #expect(here.admit(pass.text, at: now) == nil)
        for drift in [Duration.seconds(60), .seconds(-60)] {
            #expect(there.admit(pass.text, at: now + drift) != nil)
            #expect(
                there.admit(pass.text, at: now + drift + (drift > .zero ? .milliseconds(1) : .milliseconds(-1))) == nil)
        }
        // The keys may be rotated meanwhile; those of another store are none.
        try keys.rotate()
        #expect(there.admit(pass.text, at: now) != nil)
        let strangers = KeyedPasses(keys: try KeyRing(path: directory.path + "/others"), node: "there")
        #expect(strangers.admit(pass.text, at: now) == nil)
        #expect(try #require(strangers.pass(for: subscription, to: "there", at: now)).proof != pass.proof)
    }

    @Test func `a changed pass is none`() throws {
        let directory = try TemporaryDirectory()
        let passes = KeyedPasses(keys: try KeyRing(path: directory.path + "/keys"), node: "here")
        let pass = try #require(passes.pass(for: subscription, to: "here", at: now)).text
        var random = SeededGenerator()
        let letters = Array("abcXYZ0189-_.")
        for _ in 0..<200 {
            var text = Array(pass)
            let place = text.indices.dropLast().randomElement(using: &random) ?? 0
            let letter = letters.randomElement(using: &random) ?? "a"
            guard text[place] != letter else { continue }
            text[place] = letter
            #expect(passes.admit(String(text), at: now) == nil, "\(String(text))")
        }
        for text in ["", ".", "..", pass + ".", String(pass.dropLast()), String(repeating: "a.", count: 5000)] {
            #expect(passes.admit(text, at: now) == nil)
        }
    }
}
