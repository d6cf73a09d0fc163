import Foundation
import Testing

@testable import Stores

@Suite struct FiringShareTests {
    private static func names(_ count: Int) -> Set<String> {
        Set((0..<count).map { _ in UUID().uuidString.lowercased() })
    }

    private static func parts(of node: String, among nodes: Set<String>) -> Set<Int> {
        let share = FiringShare(of: node, among: nodes)
        return Set((0..<FiringShare.parts).filter(share.has))
    }

    @Test func `alone, or not among those that fire, a node has the whole`() {
        #expect(FiringShare(of: "a", among: ["a"]) == .whole && FiringShare(of: "a", among: []) == .whole)
        #expect(FiringShare(of: "a", among: ["b", "c"]) == .whole)
        #expect((0..<FiringShare.parts).allSatisfy(FiringShare.whole.has))
    }

    @Test(arguments: [2, 3, 10]) func `each part is one node's, and none has much more than another`(count: Int) {
        let names = Self.names(count)
        let shares = names.map { Self.parts(of: $0, among: names) }
        #expect(shares.map(\.count).reduce(0, +) == FiringShare.parts)
        #expect(shares.reduce(into: Set()) { $0.formUnion($1) }.count == FiringShare.parts)
        // Five times the deviation that chance has.
        let even = Double(FiringShare.parts) / Double(count)
        #expect(shares.allSatisfy { abs(Double($0.count) - even) < 5 * even.squareRoot() })
    }

    @Test func `who comes takes from the others, and who goes leaves to them, and nothing else moves`() {
        var names = Self.names(3)
        let before = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.parts(of: $0, among: names)) })
        let new = UUID().uuidString.lowercased()
        names.insert(new)
        let own = Self.parts(of: new, among: names)
        for (name, parts) in before { #expect(Self.parts(of: name, among: names) == parts.subtracting(own)) }
        let gone = before.keys.sorted()[0]
        names = Set(before.keys).subtracting([gone])
        for name in names {
            let now = Self.parts(of: name, among: names)
            #expect(now.isSuperset(of: before[name] ?? []) && now.count < FiringShare.parts)
        }
    }
}
