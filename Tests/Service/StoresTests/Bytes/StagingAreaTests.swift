import SatchelCore
import Bytes
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite struct StagingAreaTests {
    @Test(arguments: Backend.allCases)
    func `a file that somebody can still write is refused`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        var staged = try fixture.store.staging.stage()
        let writer = staged.takeWriter()
        #expect(unsafe write(writer.number, "12345", 5) == 5)
        #expect(await fixture.store.refusal(of: staged.file, expecting: 5) == .codecCrashed)
        #expect(try await fixture.store.blobNames().isEmpty)
        _ = consume writer
    }

    @Test(arguments: Backend.allCases)
    func `a file that is mapped for writing is refused, though its descriptor is closed`(backend: Backend) async throws
    {
        let fixture = try Fixture(backend, onDisk: true)
        var staged = try fixture.store.staging.stage()
        let map: UnsafeMutableRawPointer?
        do {
            let writer = staged.takeWriter()
            #expect(unsafe write(writer.number, "12345", 5) == 5)
            unsafe map = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer.number, 0)
        }
        #expect(await fixture.store.refusal(of: staged.file, expecting: 5) == .codecCrashed)
        unsafe munmap(map, 4096)
    }

    @Test(arguments: Backend.allCases, [0, 4, 6] as [Int64])
    func `a file of another size than reported is refused`(backend: Backend, expected: Int64) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        var staged = try fixture.store.staging.stage()
        do {
            let writer = staged.takeWriter()
            #expect(unsafe write(writer.number, "12345", 5) == 5)
        }
        #expect(await fixture.store.refusal(of: staged.file, expecting: expected) == .codecCrashed)
        #expect(try await fixture.store.blobNames().isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `the service's descriptor cannot write`(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let staged = try fixture.store.staging.stage()
        #expect(unsafe write(staged.file.reader.number, "x", 1) == -1)
    }

    @Test(arguments: Backend.allCases)
    func `it says how many bytes are free`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        #expect(try await fixture.store.freeBytes() > 0)
    }

    @Test func `files staged under a name leave nothing behind, committed or not`() async throws {
        let fixture = try Fixture()
        let directory = fixture.store.directory + "/staging"
        let staging = FileStagingArea(
            directory: FilePath(directory), scratch: FilePath(fixture.store.scratch), needsName: true)
        do {
            let unused = try staging.stage()
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
            _ = consume unused
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        let blob: CommittedBlob
        do {
            var staged = try staging.stage()
            do {
                let writer = staged.takeWriter()
                #expect(unsafe write(writer.number, "12345", 5) == 5)
            }
            let closed = try await staging.close(staged.file, expecting: 5, writersAreDead: false)
            blob = try await fixture.store.blobs.put(closed, under: .generate())
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        #expect(try await fixture.store.text(of: blob.name) == "12345")
    }
}

extension Store {
    /// The code with which a commit is refused; nil where it isn't.
    fileprivate func refusal(of file: ScratchFile, expecting bytes: Int64) async -> ErrorCode? {
        do throws(AttachmentError) {
            _ = try await commit(file, expecting: bytes)
            return nil
        } catch {
            return error.code
        }
    }
}
