import SatchelCore
import Foundation
import Testing

@testable import satchel

@Suite struct ShardTests {
    @Test(arguments: 1...7 as ClosedRange<UInt64>)
    func `every path belongs to exactly one shard`(count: UInt64) throws {
        let shards = try (1...count).map { try #require(Shard(argument: "\($0)/\(count)")) }
        var sizes = [Int](repeating: 0, count: shards.count)
        for number in 0..<700 {
            let owners = shards.indices.filter { shards[$0].contains(Data("2024/IMG_\(number).jpg".utf8)) }
            #expect(owners.count == 1)
            sizes[owners.first ?? 0] += 1
        }
        #expect(sizes.allSatisfy { $0 > 700 / Int(count) / 2 }, "\(sizes)")
    }

    @Test(arguments: ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3"])
    func `a shard that makes no sense is refused`(text: String) {
        #expect(Shard(argument: text) == nil)
    }
}
