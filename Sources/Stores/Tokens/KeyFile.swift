internal import Attachments
internal import SystemPackage
internal import Platform
internal import Crypto
internal import FoundationEssentials
internal import Glibc

/// The keys in a file of mode 0600, outside the store and its backups, which several processes share.
struct KeyFile: KeyStorage {
    let path: String

    /// One line of the file.
    private struct Line: Codable {
        var kid: String
        var createdAt: Instant
        var key: Data
    }

    var name: String { path }

    var version: KeyVersion? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? KeyVersion(status) : nil
    }

    func load() throws(StoreError) -> (keys: [TokenKey], version: KeyVersion)? {
        let data: Data
        let version: KeyVersion
        do {
            let file = try Files.open(FilePath(path), .readOnly, to: "read the keys")
            var status = stat()
            guard unsafe fstat(file.number, &status) == 0 else { throw SystemError("look at the keys") }
            guard status.st_mode & 0o077 == 0 else { throw StoreError.exposedKeys(path: path) }
            version = KeyVersion(status)
            data = try Data(contentsOf: URL(filePath: "/proc/self/fd/\(file.number)"))
        } catch let error as SystemError {
            if error.code == ENOENT { return nil }
            throw StoreError(error, at: path)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .damagedKeys(path: path, reason: "it can't be read")
        }
        guard let lines = try? JSONDecoder().decode([Line].self, from: data), !lines.isEmpty,
            lines.allSatisfy({ $0.key.count == 32 })
        else { throw .damagedKeys(path: path, reason: "it holds no keys that Satchel wrote") }
        let keys = lines.map { TokenKey(kid: $0.kid, createdAt: $0.createdAt, key: SymmetricKey(data: $0.key)) }
        return (keys, version)
    }

    func change(_ body: ([TokenKey]) -> [TokenKey]) throws(StoreError) {
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
            let keys = body(try load()?.keys ?? [.new()])
            let lines = keys.map { key in
                Line(kid: key.kid, createdAt: key.createdAt, key: unsafe key.key.withUnsafeBytes { unsafe Data($0) })
            }
            let temporary = FilePath(path + ".new")
            try Files.remove(temporary)
            try Files.write(Array(try JSONEncoder().encode(lines)), to: temporary)
            try Files.rename(temporary, to: file, to: "put the keys in place")
            try Files.syncDirectory(directory.isEmpty ? "." : directory)
        } catch let error as SystemError {
            throw StoreError(error, at: path)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .damagedKeys(path: path, reason: "it can't be written")
        }
    }
}

extension KeyVersion {
    fileprivate init(_ status: stat) {
        self.init(
            inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }
}
