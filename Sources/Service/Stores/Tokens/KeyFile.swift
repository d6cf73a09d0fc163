internal import SatchelCore
internal import SystemPackage
internal import Platform
internal import Crypto
internal import FoundationEssentials
internal import Glibc

/// The keys in a file outside the store and its backups, which several processes share.
///
/// A process makes it on the first use, with mode 0600, and replaces it whenever the keys change: nobody else may read it,
/// and it isn't looked for behind a link. Or it is **given**: the process can't write to it, as it lies on what is mounted
/// read-only, or belongs to another user who doesn't let it. So clusters and service managers hand out secrets, with links
/// in front of them and readable by a group. Then links are followed, and its group may read it, though not write; none is
/// made where there is none, nothing is changed, and what whoever gives it puts in its place is noticed. Others may never
/// read it.
///
/// The looser rule is for what can't be written alone: whoever owns a file can and should have tightened it.
struct KeyFile: Sendable {
    let path: String

    /// The file, and what is known of it.
    private struct Opened: ~Copyable {
        let file: Descriptor
        let status: stat
        let isGiven: Bool
    }

    /// One line of the file.
    private struct Line: Codable {
        var kid: String
        var createdAt: Instant
        var key: Data
    }

    /// Tells one state of the keys from another, cheaply; nil where there are none.
    var version: KeyVersion? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? KeyVersion(status) : nil
    }

    /// The keys, the one for new tokens first; nil if there are none, or an operator asks for new ones.
    func load() throws(StoreError) -> (keys: [TokenKey], version: KeyVersion)? {
        guard let opened = try open() else { return nil }
        // Of others nobody; of the group, where it is given, whoever only reads.
        let forbidden: mode_t = opened.isGiven ? 0o037 : 0o077
        guard opened.status.st_mode & forbidden == 0 else { throw .exposedKeys(path: path) }
        guard let data = try? Data(contentsOf: URL(filePath: opened.file.path.string)) else {
            throw .damagedKeys(path: path, reason: "it can't be read")
        }
        // An operator wrote it after losing the keys.
        if String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace) == ["new"] { return nil }
        guard let lines = try? JSONDecoder().decode([Line].self, from: data), !lines.isEmpty,
            lines.allSatisfy({ $0.key.count == 32 })
        else { throw .damagedKeys(path: path, reason: "it contains no keys written by Satchel") }
        let keys = lines.map { TokenKey(kid: $0.kid, createdAt: $0.createdAt, key: SymmetricKey(data: $0.key)) }
        return (keys, KeyVersion(opened.status))
    }

    /// Replaces the keys, durably and at once, while no other process does the same.
    ///
    /// - Parameter body: Returns the new keys; none to change nothing.
    /// - Throws: `givenKeys`; `missingKeys` where there are none and none can be made.
    func change(_ body: ([TokenKey]) -> [TokenKey]) throws(StoreError) {
        let isThere: Bool
        if let opened = try open() {
            guard !opened.isGiven else { throw .givenKeys(path: path) }
            isThere = true
        } else {
            isThere = false
        }
        do {
            let file = FilePath(path)
            let directory = file.removingLastComponent()
            try Files.makeDirectories(directory)
            let lock = try Files.open(
                FilePath(path + ".lock"), .readWrite, [.create, .noFollow], permissions: .ownerReadWrite,
                to: "lock the keys")
            while flock(lock.number, LOCK_EX) != 0 {
                guard errno == EINTR else { throw SystemError("lock the keys") }
            }
            // Whoever waited for the lock finds what the other one wrote.
            let keys = body(try load()?.keys ?? [])
            if keys.isEmpty { return }
            let lines = keys.map { key in
                Line(kid: key.kid, createdAt: key.createdAt, key: unsafe key.key.withUnsafeBytes { unsafe Data($0) })
            }
            let temporary = FilePath(path + ".new")
            try Files.remove(temporary)
            try Files.write(Array(try JSONEncoder().encode(lines)), to: temporary)
            try Files.rename(temporary, to: file, to: "put the keys in place")
            try Files.syncDirectory(directory.isEmpty ? "." : directory)
        } catch let error as SystemError {
            if !isThere, [EROFS, EACCES, EPERM].contains(error.code) {
                throw .missingKeys(path: path, reason: error.reason)
            }
            throw StoreError(error, at: path)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .damagedKeys(path: path, reason: "it can't be written")
        }
    }

    /// The file as it is now; nil where there is none.
    private func open() throws(StoreError) -> Opened? {
        do throws(SystemError) { return try open(.noFollow) } catch {
            if error.code == ENOENT { return nil }
            guard error.code == ELOOP else { throw StoreError(error, at: path) }
        }
        do throws(SystemError) {
            let opened = try open([])
            guard opened.isGiven else { throw SystemError("follow a link to the keys", code: ELOOP) }
            return opened
        } catch {
            // None are made in place of a link.
            if error.code == ENOENT { throw .missingKeys(path: path, reason: "it is a dangling symbolic link") }
            throw StoreError(error, at: path)
        }
    }

    private func open(_ options: FileDescriptor.OpenOptions) throws(SystemError) -> Opened {
        let file = try Files.open(FilePath(path), .readOnly, options, to: "read the keys")
        var (status, volume) = (stat(), statvfs())
        guard unsafe fstat(file.number, &status) == 0, unsafe fstatvfs(file.number, &volume) == 0 else {
            throw SystemError("look at the keys")
        }
        let mayWrite = unsafe faccessat(AT_FDCWD, file.path.string, W_OK, AT_EACCESS) == 0
        let isReadOnly = volume.f_flag & UInt(ST_RDONLY) != 0
        // An owner could let itself write.
        return Opened(file: file, status: status, isGiven: isReadOnly || status.st_uid != geteuid() && !mayWrite)
    }
}

extension KeyVersion {
    fileprivate init(_ status: stat) {
        self.init(
            inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }
}
