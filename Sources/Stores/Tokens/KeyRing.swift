internal import Attachments
internal import Crypto
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The keys from which the secrets of tokens are derived: a file of mode 0600 outside the store and its backups.
///
/// New tokens use the first key; the others stay until the last token that was derived with them has expired.
/// Several processes share the file, and each notices when another has rotated it.
final class KeyRing: Sendable, CustomStringConvertible, CustomReflectable {
    /// An older key is kept for at least this long after its rotation, for processes that are just using it.
    static let grace: Duration = .seconds(3600)

    let path: String
    private let state: Mutex<State>
    private let derived = Atomic<Int>(0)

    private struct State: Sendable {
        var keys: [Key]
        var stamp: Stamp
        /// Stands in for a key that is not there, at the same cost.
        let decoy = SymmetricKey(size: .bits256)
    }

    private struct Key: Sendable {
        var kid: String
        var createdAt: Instant
        var key: SymmetricKey
    }

    /// Tells one state of the file from another.
    private struct Stamp: Hashable, Sendable {
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
    }

    /// One line of the file.
    private struct Line: Codable {
        var kid: String
        var createdAt: Instant
        var key: Data
    }

    /// Reads the file at `path`, and makes it on the first use.
    init(path: String) throws(StoreError) {
        self.path = path
        if try Self.load(path) == nil { try Self.change(path) { $0 } }
        guard let (keys, stamp) = try Self.load(path) else {
            throw .damagedKeys(path: path, reason: "it was removed just now")
        }
        state = Mutex(State(keys: keys, stamp: stamp))
    }

    var description: String { "the keys in '\(path)'" }
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Secrets that were derived, for tests of equal cost.
    var derivations: Int { derived.load(ordering: .relaxed) }

    /// The key that new tokens are made with.
    func current() throws(StoreError) -> String {
        try reloadIfChanged()
        return state.withLock { $0.keys[0].kid }
    }

    var kids: [String] { state.withLock { $0.keys.map(\.kid) } }

    /// The whole token; nil where the key is gone. Costs the same either way.
    func token(_ kind: TokenKind, id: String, kid: String?) -> AccessToken? {
        if let kid, !state.withLock({ state in state.keys.contains { $0.kid == kid } }) { try? reloadIfChanged() }
        let (key, decoy) = state.withLock { state in
            (state.keys.first { $0.kid == kid }?.key, state.decoy)
        }
        derived.add(1, ordering: .relaxed)
        let secret = HMAC<SHA256>.authenticationCode(for: Data((kind.rawValue + id).utf8), using: key ?? decoy)
        let text = TokenFormat.compose(kind, id: id, secret: Array(secret))
        return key == nil ? nil : AccessToken(secretText: text)
    }

    /// What the headers for origins are encrypted with; nil where the key is gone.
    func headerKey(_ kid: String) -> SymmetricKey? {
        if !state.withLock({ state in state.keys.contains { $0.kid == kid } }) { try? reloadIfChanged() }
        guard let key = state.withLock({ state in state.keys.first { $0.kid == kid }?.key }) else { return nil }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Data("headers for origins".utf8), outputByteCount: 32)
    }

    /// The secrets of a tenant's webhooks, one for each key, the current one first. What tokens are derived from
    /// begins with their prefix, so that none is derived from the same words.
    func webhookSecrets(of tenant: TenantID) throws(StoreError) -> [WebhookSecret] {
        try reloadIfChanged()
        return state.withLock { $0.keys }.map { key in
            let code = HMAC<SHA256>.authenticationCode(for: Data("callback:\(tenant.rawValue)".utf8), using: key.key)
            return WebhookSecret(bytes: Data(code))
        }
    }

    /// Puts a new key in front. Tokens of the old ones stay good.
    func rotate() throws(StoreError) {
        try Self.change(path) { [Self.newKey()] + $0 }
        try reloadIfChanged()
    }

    /// Drops the keys that no live token needs: neither the current one nor those in `kids`.
    func prune(keeping kids: Set<String>, now: Instant = .wallClock()) throws(StoreError) {
        func remaining(_ keys: [Key]) -> [Key] {
            keys.enumerated().filter { index, key in
                // A key was rotated out when its successor was made.
                index == 0 || kids.contains(key.kid) || keys[index - 1].createdAt + Self.grace > now
            }.map(\.element)
        }
        let keys = state.withLock { $0.keys }
        guard remaining(keys).count < keys.count else { return }
        try Self.change(path, remaining)
        try reloadIfChanged()
    }

    private func reloadIfChanged() throws(StoreError) {
        guard Self.stamp(path) != state.withLock({ $0.stamp }) else { return }
        guard let (keys, stamp) = try Self.load(path) else {
            throw .damagedKeys(path: path, reason: "it was removed")
        }
        state.withLock { state in
            state.keys = keys
            state.stamp = stamp
        }
    }

    private static func newKey() -> Key {
        Key(
            kid: TokenFormat.base62((0..<6).map { _ in UInt8.random(in: .min ... .max) }, length: 8),
            createdAt: .wallClock(), key: SymmetricKey(size: .bits256))
    }

    private static func stamp(_ path: String) -> Stamp? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Stamp(
            inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Nil where there is no file.
    private static func load(_ path: String) throws(StoreError) -> ([Key], Stamp)? {
        let data: Data
        let mark: Stamp
        do {
            let file = try Files.open(path, O_RDONLY | O_NOFOLLOW, to: "read the keys")
            var status = stat()
            guard unsafe fstat(file.number, &status) == 0 else { throw SystemError("look at the keys") }
            guard status.st_mode & 0o077 == 0 else { throw StoreError.exposedKeys(path: path) }
            mark = Stamp(
                inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
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
        let keys = lines.map { Key(kid: $0.kid, createdAt: $0.createdAt, key: SymmetricKey(data: $0.key)) }
        return (keys, mark)
    }

    /// Replaces the file by one with other keys, durably and at once, while no other process does the same.
    private static func change(_ path: String, _ body: ([Key]) -> [Key]) throws(StoreError) {
        do {
            let directory = try makeParent(of: path)
            let lock = try Files.open(
                path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600, to: "lock the keys")
            while flock(lock.number, LOCK_EX) != 0 {
                guard errno == EINTR else { throw SystemError("lock the keys") }
            }
            // Whoever waited for the lock finds what the other one wrote.
            let keys = body(try load(path)?.0 ?? [newKey()])
            let lines = keys.map { key in
                Line(kid: key.kid, createdAt: key.createdAt, key: unsafe key.key.withUnsafeBytes { unsafe Data($0) })
            }
            let data = try JSONEncoder().encode(lines)
            let temporary = path + ".new"
            try Files.remove(temporary)
            let file = try Files.open(
                temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, to: "write the keys")
            var written = 0
            while written < data.count {
                let rest = Array(data[written...])
                let count = unsafe write(file.number, rest, rest.count)
                guard count > 0 else {
                    if errno == EINTR { continue }
                    throw SystemError("write the keys")
                }
                written += count
            }
            try Files.sync(file, "the keys")
            guard unsafe rename(temporary, path) == 0 else { throw SystemError("put the keys in place") }
            try Files.syncDirectory(directory)
        } catch let error as SystemError {
            throw StoreError(error, at: path)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .damagedKeys(path: path, reason: "it can't be written")
        }
    }

    private static func makeParent(of path: String) throws(SystemError) -> String {
        let directory = URL(filePath: path).deletingLastPathComponent().path
        try Files.makeDirectories(directory)
        return directory
    }
}
