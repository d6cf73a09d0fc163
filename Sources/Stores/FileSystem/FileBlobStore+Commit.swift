public import Attachments
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Synchronization

extension FileBlobStore {
    public func stage() throws(AttachmentError) -> StagedFile {
        do {
            let directory = directory + "/staging"
            if !staging.needsName, let file = Self.stageUnnamed(in: directory, staging) { return file }
            let path = directory + "/" + UUID().uuidString.lowercased()
            let writer = try Files.open(
                path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o400, to: "stage a file")
            let reader = try Files.open(path, O_RDONLY | O_NOFOLLOW, to: "open a staged file for reading")
            return StagedFile(writer: writer, reader: reader, token: path) {
                // After a commit the name is gone, and there is nobody to tell of a failure: a sweep comes by.
                _ = try? Files.remove(path)
            }
        } catch {
            throw AttachmentError(error)
        }
    }

    /// Nil where it can't be, and a name will do: not every file system has unnamed files, and some have them without the
    /// second half, a link that gives them a name. Of what else is wrong the named file tells.
    private static func stageUnnamed(in directory: String, _ staging: Staging) -> StagedFile? {
        do {
            // Of a file of its own: one that had a name and lost it never gets another.
            try staging.tryOnce { () throws(SystemError) in
                let trial = try Files.open(directory, Files.unnamed | O_RDWR, mode: 0o400, to: "stage a file")
                let path = directory + "/" + UUID().uuidString.lowercased()
                guard linkUnnamed(trial, to: path) == 0 else { return false }
                return try Files.remove(path)
            }
            guard !staging.needsName else { return nil }
            let writer = try Files.open(directory, Files.unnamed | O_RDWR, mode: 0o400, to: "stage a file")
            let reader = try Files.reopenForReading(writer)
            return StagedFile(writer: writer, reader: reader, token: "")
        } catch {
            return nil
        }
    }

    /// By a trial with a file that nobody writes any more.
    public var provesClosing: Bool {
        staging.hasLeases {
            do {
                var trial = try stage()
                do { _ = trial.takeWriter() }
                try Files.proveNoWriterIsLeft(trial.reader)
                return true
            } catch {
                return false
            }
        }
    }

    public func commit(
        _ file: consuming StagedFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> CommittedBlob {
        let box = Box(file)
        return try await BlockingWork.run { () throws(AttachmentError) in
            guard let file = box.take() else { throw .storeFailed(reason: "the staged file was committed before") }
            return try commitNow(file, expecting: bytes, writersAreDead: writersAreDead)
        }
    }

    public func duplicate(_ blob: CommittedBlob) async throws(AttachmentError) -> CommittedBlob? {
        try await BlockingWork.run { () throws(AttachmentError) in
            let name = BlobName.make(sha256: blob.sha256)
            guard let old = path(of: blob.name), let new = path(of: name) else { return nil }
            do {
                guard unsafe Glibc.link(old, new) == 0 else {
                    if Self.linkRefusals.contains(errno) { return nil }
                    throw SystemError("give a blob another name")
                }
                do {
                    try Files.syncDirectory("\(directory)/blobs/\(blob.sha256.prefix(2))")
                } catch {
                    _ = try? Files.remove(new)
                    throw error
                }
            } catch let error as SystemError {
                throw AttachmentError(error)
            } catch {
                throw .storeFailed(reason: "\(error)")
            }
            return CommittedBlob(name: name, sha256: blob.sha256, bytes: blob.bytes)
        }
    }

    private func commitNow(
        _ file: consuming StagedFile, expecting bytes: Int64, writersAreDead: Bool
    ) throws(AttachmentError) -> CommittedBlob {
        do {
            if !provesClosing && !writersAreDead {
                throw AttachmentError.storeFailed(reason: "its file system can't tell whether an output is closed")
            }
            let sha256 = try file.closed(expecting: bytes, provingIt: provesClosing)
            try Files.sync(file.reader, "a blob")
            let name = BlobName.make(sha256: sha256)
            guard let path = path(of: name) else { throw AttachmentError.storeFailed(reason: "a name went wrong") }
            try Self.link(file, to: path)
            do {
                try Files.syncDirectory("\(directory)/blobs/\(sha256.prefix(2))")
            } catch {
                _ = try? Files.remove(path)
                throw error
            }
            return CommittedBlob(name: name, sha256: sha256, bytes: bytes)
        } catch let error as SystemError {
            throw AttachmentError(error)
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "\(error)")
        }
    }

    private static func link(_ file: borrowing StagedFile, to path: String) throws(SystemError) {
        let answer =
            if file.token.isEmpty {
                linkUnnamed(file.reader, to: path)
            } else {
                unsafe rename(file.token, path)
            }
        guard answer == 0 else { throw SystemError("give a blob its name") }
    }

    private static func linkUnnamed(_ file: borrowing Descriptor, to path: String) -> Int32 {
        unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file.number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
    }

    /// The bytes are gone or have too many names, or the file system, or what surrounds the program, knows no second ones.
    private static let linkRefusals: Set<Int32> = [ENOENT, EMLINK, EPERM, EACCES, EOPNOTSUPP, ENOSYS, EXDEV]
}

/// Carries a staged file into a closure that runs once.
private final class Box: Sendable {
    private let content: Mutex<StagedFile?>

    init(_ file: consuming StagedFile) {
        content = Mutex(file)
    }

    func take() -> StagedFile? {
        content.withLock { $0.take() }
    }
}
