import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite(.timeLimit(.minutes(5))) struct DirectoryWatchTests {
    private func watching(_ directory: borrowing TemporaryDirectory) throws -> DirectoryWatch {
        let watch = try DirectoryWatch()
        var walk = try DirectoryWalk(Data(directory.path.utf8), watch: watch)
        while walk.next() != nil {}
        return watch
    }

    @Test func `a file that comes deep in the tree is told of once, and nothing before`() async throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "a/b"), withIntermediateDirectories: true)
        let watch = try watching(directory)
        #expect(watch.seesAll)
        #expect(try await !watch.wait(until: .now + .milliseconds(50)))
        try Data("new".utf8).write(to: directory.url.appending(path: "a/b/c"))
        #expect(try await watch.wait(until: .now + .seconds(60)))
        #expect(try await !watch.wait(until: .now + .milliseconds(50)))
    }

    @Test func `what comes between the look and the wait isn't missed`() async throws {
        let directory = try TemporaryDirectory()
        let watch = try watching(directory)
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "new"), withIntermediateDirectories: false)
        #expect(try await watch.wait(until: .now + .seconds(60)))
    }

    @Test func `a wait ends with its task`() async throws {
        let directory = try TemporaryDirectory()
        let watch = try watching(directory)
        let waiting = Task { try await watch.wait(until: .now + .seconds(3600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
