import Attachments
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite struct VerifyTests {
    @Test func `verify finds what is missing, damaged and orphaned, and is content with the rest`() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        _ = try await store.deliver([.main: "whole"])
        let damaged = try await store.deliver([.main: "damaged"])
        let missing = try await store.deliver([.main: "missing"])
        #expect(try await store.verify().isSound)
        let orphan = try await store.commit("orphan")
        func name(_ attachment: AttachmentRecord) async throws -> BlobName {
            try #require(try await store.records.blob(of: .main, of: attachment.id, tenant: .local))
        }
        let (damagedName, missingName) = (try await name(damaged), try await name(missing))
        let path = try #require(store.files.path(of: damagedName)).string
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        // One bit of one byte: neither size nor time tell.
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.write(contentsOf: Data("e".utf8))
        try file.close()
        try await store.blobs.remove([missingName])
        let report = try await store.verify()
        #expect(!report.isSound)
        #expect(report.damaged == [damagedName])
        #expect(report.missing == [missingName])
        #expect(report.orphaned == [orphan.name])
        #expect(report.blobs == 2)

        // New deliveries of the same bytes are whole again.
        for text in ["damaged", "missing"] {
            let again = try await store.deliver([.main: text])
            #expect(try await store.text(of: try await name(again)) == text)
        }
    }
}
