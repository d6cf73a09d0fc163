import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

/// What must hold of a store however the program before ended.
struct Examination {
    var store: Store
    /// Where the program ended, for the report of a failure.
    var place: String

    /// Nothing dangles: every blob that a record refers to is there and has the bytes of its hash.
    func nothingDangles() async throws {
        let report = try await store.verify()
        #expect(report.isSound, "\(place): missing \(report.missing), damaged \(report.damaged)")
    }

    /// Everything that was acknowledged is there, with all its renditions.
    func nothingIsLost(_ acknowledged: [Acknowledged]) async throws {
        for line in acknowledged where line.state == "delivered" {
            let id = try #require(line.attachmentId, "\(place): '\(line.path)' was delivered without an id")
            let record = try await store.records.attachment(AttachmentID(rawValue: id), of: .local)
            #expect(record?.state == .delivered, "\(place): '\(line.path)' was acknowledged and is not in the store")
            for role in record?.renditions.keys.sorted(by: { $0.rawValue < $1.rawValue }) ?? [] {
                let blob = try await store.records.blob(of: role, of: AttachmentID(rawValue: id), tenant: .local)
                #expect(blob != nil, "\(place): '\(line.path)' has lost its \(role.rawValue)")
            }
        }
    }

    /// The identifiers of all that was delivered, one for each attachment.
    func delivered() async throws -> [String] {
        var identifiers: [String] = []
        var cursor: String?
        repeat {
            let page = try await store.records.attachments(
                of: .local, where: RecordFilter(state: .delivered), after: cursor, limit: 100)
            identifiers += page.elements.map(\.identifier)
            cursor = page.next
        } while cursor != nil
        return identifiers.sorted()
    }

    /// Every job has come to its end.
    func nothingIsUnfinished() async throws {
        for state in [WorkState.pending, .running] {
            let page = try await store.records.jobs(
                of: .local, where: RecordFilter(state: state), after: nil, limit: 100)
            #expect(page.elements.isEmpty, "\(place): a job is left \(state.rawValue)")
        }
    }

    /// What the blobs hold that records refer to.
    func contents(home: String) async throws -> Set<String> {
        Set(
            try await store.records.referencedBlobs().map { blob in
                let path = "\(home)/\(Machine.store)/blobs/\(blob.name.rawValue.prefix(2))/\(blob.name.rawValue)"
                return String(decoding: try Disk.read(path), as: UTF8.self)
            })
    }

    /// One sweep, alone with the store, leaves exactly what records refer to and what a store is made of.
    func oneSweepLeavesNothingBehind(home: String) async throws {
        #expect(store.isExclusive, "\(place): somebody still holds the store")
        _ = try await store.sweep()
        let referenced = try await store.records.referencedBlobs().map {
            "blobs/\($0.name.rawValue.prefix(2))/\($0.name.rawValue)"
        }
        let own = [
            "lock", "opening", "removals", "reserve", "revocations", "records.sqlite", "records.sqlite-wal",
            "records.sqlite-shm",
        ]
        let left = try Disk.files(in: "\(home)/\(Machine.store)").subtracting(referenced).subtracting(own)
        #expect(left.isEmpty, "\(place): the sweep left \(left.sorted())")
        let keys = try Disk.files(in: "\(home)/config/satchel").subtracting(["access.keys", "access.keys.lock"])
        #expect(keys.isEmpty, "\(place): beside the keys is \(keys.sorted())")
    }
}
