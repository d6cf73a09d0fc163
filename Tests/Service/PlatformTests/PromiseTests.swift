import Platform
import Testing

@Suite struct PromiseTests {
    private struct Broken: Error {}

    @Test func `whoever waits before and after gets the first value, and no other`() async throws {
        let promise = Promise<Int>()
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await promise.value } }
            await Task.yield()
            promise.make(.success(1))
            promise.make(.success(2))
            promise.make(.failure(Broken()))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 20))
        #expect(try await promise.value == 1)
    }

    @Test func `an error is a value too`() async {
        let promise = Promise<Int>()
        promise.make(.failure(Broken()))
        await #expect(throws: Broken.self) { try await promise.value }
    }
}
