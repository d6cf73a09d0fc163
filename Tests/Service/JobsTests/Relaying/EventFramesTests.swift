import Foundation
import TestSupport
import Testing

@testable import Jobs

/// What comes from another node.
@Suite struct EventFramesTests {
    private let events = [
        RelayedEvent(name: "started", id: "5f0c2a1e-7", data: #"{"attempt":1,"job_id":"a: b"}"#),
        RelayedEvent(name: "stage", id: "5f0c2a1e-8", data: #"{"note":"ü"}"#),
        RelayedEvent(name: "finished", id: "5f0c2a1e-9", data: "{}"),
    ]

    private func text(_ events: [RelayedEvent]) -> String {
        events.map { "event: \($0.name)\nid: \($0.id)\ndata: \($0.data)\n\n" }.joined(separator: ": still here\n\n")
    }

    @Test func `events are read in whichever pieces they come`() throws {
        let bytes = Array(text(events).utf8)
        var random = SeededGenerator()
        for _ in 0..<50 {
            var frames = EventFrames()
            var heard: [RelayedEvent] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let size = Int.random(in: 1...rest.count, using: &random)
                heard += try frames.add(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(heard == events)
        }
    }

    @Test func `a later version's events are passed over`() throws {
        var frames = EventFrames()
        #expect(try frames.add("event: sung\nid: a-1\ndata: {}\n\n".utf8).isEmpty)
    }

    @Test(arguments: [
        "event: stage\nid: a-1\ndata: {}\nid: a-2\n\n", "event: stage\ndata: {}\n\n", "event: stage\nid: a-1\n\n",
        "event: stage\nid: a 1\ndata: {}\n\n", "event: stage\nid: a-1\ndata: text\n\n", "data\n\n", "retry: 1\n\n",
        "event: stage\nid: a-1\ndata: {}\nretry: 1\n\n",
    ])
    func `what is no node's stream is refused`(text: String) {
        var frames = EventFrames()
        #expect(throws: RelayFailure.self) { try frames.add(text.utf8) }
    }

    @Test func `no event is longer than 64 KiB`() {
        var frames = EventFrames()
        let piece = Array(repeating: UInt8(ascii: "a"), count: 1 << 10)
        #expect(throws: RelayFailure.self) { for _ in 0...64 { _ = try frames.add(piece) } }
    }
}
