import SatchelCore
import Foundation
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import S3

/// Uploads that come to a bucket part by part.
@Suite(.needs(.ceph), .timeLimit(.minutes(5))) struct S3UploadTests {
    private static let part: Int64 = 64 << 10

    /// An upload as a record store has it.
    private final class Upload: Sendable {
        private let state: Mutex<UploadRecord>
        let bucket: TestBucket
        let files: S3SourceStore
        let scratch: TemporaryDirectory

        init(length: Int64? = nil) throws {
            bucket = try TestBucket { configuration in
                configuration.partSize = S3UploadTests.part
            }
            scratch = try TemporaryDirectory()
            files = S3SourceStore(bucket.client, scratch: scratch.path)
            let record = UploadRecord(
                NewToken(id: "id", kid: "kid", token: AccessToken(secretText: "satu_x")), tenant: .local,
                terms: UploadTerms(), length: length, source: files.newUploadName(),
                createdAt: Instant(milliseconds: 0), expiresAt: Instant(milliseconds: 1_000_000))
            state = Mutex(record)
        }

        var record: UploadRecord { state.withLock { $0 } }

        @discardableResult
        func step(_ step: UploadStep) throws -> UploadRecord {
            let change = try UploadDecision.change(record, by: step, call: "call", at: Instant(milliseconds: 1)).get()
            state.withLock { $0 = change.record }
            return change.record
        }

        func begin() async throws -> (ArrivedBytes, UploadWriterID) {
            let writer = UploadWriterID.generate()
            try step(.begin(writer))
            return (try #require(try await files.resume(record)), writer)
        }

        func keep(
            _ arrived: ArrivedBytes, upTo offset: Int64, _ pause: UploadPause, _ writer: UploadWriterID,
            isRecorded: Bool = true
        ) async throws {
            let before = record
            let kept = try await files.keep(arrived, upTo: offset, of: before, pause)
            guard isRecorded else { return }
            try step(.advance(to: kept.offset, parts: kept.parts, isWhole: pause == .whole, writer))
            await files.discard(
                Array(Set(before.parts?.parts ?? []).subtracting(kept.parts?.parts ?? [])), of: before)
        }

        /// What reads back as the source.
        func source() async throws -> Data {
            let file = try await files.open(record.source)
            return try FileHandle(fileDescriptor: file.release(), closeOnDealloc: true).readToEnd() ?? Data()
        }
    }

    private func write(_ data: Data, to arrived: ArrivedBytes) throws {
        try FileHandle(fileDescriptor: arrived.file.reader.number).write(contentsOf: data)
    }

    @Test(arguments: [Int64(0), 1, part - 1, part, part + 1, 2 * part, 17 * part + 5])
    func `whatever requests an upload comes in, its source has all bytes`(length: Int64) async throws {
        var random = SeededGenerator(seed: UInt64(length) + 1)
        let data = Data.random(Int(length))
        let upload = try Upload(length: Bool.random(using: &random) ? length : nil)
        while !(upload.record.parts?.isWhole ?? false) {
            let (arrived, writer) = try await upload.begin()
            var place = upload.record.offset
            let end = Bool.random(using: &random) ? length : Int64.random(in: place...length, using: &random)
            repeat {
                let next = min(end, place + Int64.random(in: 0...Self.part * 2, using: &random))
                try write(data[place..<next], to: arrived)
                place = next
                // What fails between the bucket and the records is done again.
                let isRecorded = Int.random(in: 0..<3, using: &random) > 0
                if place - upload.record.offset >= Self.part {
                    try await upload.keep(arrived, upTo: place, .underway, writer, isRecorded: isRecorded)
                }
            } while place < end
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await upload.keep(arrived, upTo: end, .ended, writer, isRecorded: false)
            }
            try await upload.keep(arrived, upTo: end, end == length ? .whole : .ended, writer)
            #expect(upload.record.offset == end)
        }
        // Whoever was cut off before it could say so does it again.
        for _ in 0..<2 { try await upload.files.finish(upload.record) }
        let (arrived, writer) = try await upload.begin()
        try await upload.keep(arrived, upTo: length, .whole, writer)
        try await upload.files.finish(upload.record)
        #expect(try await upload.source() == data)
        let listed = try await upload.files.list(after: nil, limit: 100).elements.map(\.name)
        #expect(Set(listed) == [upload.record.source], "all of it is found by the source's name")
        try await upload.files.remove([upload.record.source])
        #expect(try await upload.bucket.keys().isEmpty, "and goes with it, also what was never recorded")
    }

    @Test func `requests that bring little each leave no more than the parts and one rest`() async throws {
        let upload = try Upload()
        for number in 0..<30 {
            let (arrived, writer) = try await upload.begin()
            try write(Data.random(10_000, seed: UInt64(number)), to: arrived)
            try await upload.keep(arrived, upTo: Int64(number + 1) * 10_000, .ended, writer)
        }
        let parts = try #require(upload.record.parts)
        #expect(parts.parts.map(\.bytes) == Array(repeating: Self.part, count: 4) + [300_000 - 4 * Self.part])
        #expect(try await upload.bucket.keys().count == 5)
    }

    @Test func `who was overtaken changes nothing of whoever came after`() async throws {
        let data = Data.random(Int(Self.part) + 3)
        let upload = try Upload()
        let (first, early) = try await upload.begin()
        try write(data.prefix(Int(Self.part)), to: first)
        try await upload.keep(first, upTo: Self.part, .underway, early)
        let slow = upload.record
        let (second, writer) = try await upload.begin()
        try write(Data("another's".utf8), to: first)
        let late = try await upload.files.keep(first, upTo: Self.part + 9, of: slow, .ended)
        #expect(throws: UploadRefusal.overtaken) {
            try upload.step(.advance(to: late.offset, parts: late.parts, early))
        }
        try write(data.suffix(3), to: second)
        try await upload.keep(second, upTo: Int64(data.count), .whole, writer)
        try await upload.files.finish(upload.record)
        _ = try await upload.files.keep(first, upTo: Self.part + 9, of: slow, .ended)
        #expect(try await upload.source() == data)
    }

    @Test func `a part takes its room on this machine until it is in the bucket`() async throws {
        let upload = try Upload()
        let (arrived, writer) = try await upload.begin()
        for number in 1...20 {
            try write(Data.random(Int(Self.part)), to: arrived)
            try await upload.keep(arrived, upTo: Int64(number) * Self.part, .underway, writer)
        }
        var facts = stat()
        #expect(unsafe fstat(arrived.file.reader.number, &facts) == 0)
        #expect(Int64(facts.st_blocks) * 512 <= 2 * Self.part, "of \(facts.st_size) bytes")
    }

    @Test func `bytes that the bucket lost are missing, and not zeros`() async throws {
        for isWhole in [false, true] {
            let upload = try Upload()
            let (arrived, writer) = try await upload.begin()
            try write(Data.random(Int(Self.part) + 9), to: arrived)
            try await upload.keep(arrived, upTo: Self.part + 9, isWhole ? .whole : .ended, writer)
            let lost = try #require(upload.record.parts?.parts.last)
            try await upload.files.finish(upload.record)
            await upload.files.discard([lost], of: upload.record)
            let error = await #expect(throws: AttachmentError.self) {
                if isWhole {
                    _ = try await upload.source()
                } else {
                    _ = try await upload.files.resume(upload.record)
                }
            }
            #expect(error?.code == .notInStore)
        }
    }
}
