internal import SatchelCore
internal import Crypto
internal import FoundationEssentials
internal import Synchronization

/// The keys from which the secrets of tokens are derived.
///
/// New tokens use the first key; the others stay until the last token that was derived with them has expired. Several
/// processes share them, and each notices when another has rotated them.
final class KeyRing: Sendable, CustomStringConvertible, CustomReflectable {
    /// An older key is kept for at least this long after its rotation, for processes that are just using it.
    static let grace: Duration = .seconds(3600)

    private let file: KeyFile
    private let state: Mutex<State>
    private let derived = Atomic<Int>(0)

    private struct State: Sendable {
        var keys: [TokenKey]
        var version: KeyVersion
        /// Stands in for a key that is not there, at the same cost.
        let decoy = SymmetricKey(size: .bits256)
    }

    /// Reads the keys, and makes one on the first use, unless they are to be given.
    ///
    /// - Parameter isNeeded: Whether the store needs the keys that it was used with. Asked if there is no file.
    init(
        _ file: KeyFile, isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in false }
    ) throws(StoreError) {
        self.file = file
        if try file.load() == nil {
            if file.version == nil, try isNeeded() { throw .lostKeys(path: file.path) }
            try file.change { $0.isEmpty ? [.new()] : $0 }
        }
        guard let (keys, version) = try file.load() else {
            throw .damagedKeys(path: file.path, reason: "it was removed just now")
        }
        state = Mutex(State(keys: keys, version: version))
    }

    /// In the file at `path`.
    convenience init(path: String) throws(StoreError) {
        try self.init(KeyFile(path: path))
    }

    var description: String { "the keys in '\(file.path)'" }
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

    /// What the secrets of submissions are encrypted with; nil where the key is gone.
    func headerKey(_ kid: String) -> SymmetricKey? { derivedKey(kid, for: "headers for origins") }

    /// What the keys of renditions are encrypted with; nil where the key is gone.
    func renditionKey(_ kid: String) -> SymmetricKey? { derivedKey(kid, for: "keys of renditions") }

    /// What nodes know each other by; nil where the key is gone.
    func nodeKey(_ kid: String) -> SymmetricKey? { derivedKey(kid, for: "requests of nodes") }

    private func derivedKey(_ kid: String, for use: String) -> SymmetricKey? {
        if !state.withLock({ state in state.keys.contains { $0.kid == kid } }) { try? reloadIfChanged() }
        guard let key = state.withLock({ state in state.keys.first { $0.kid == kid }?.key }) else { return nil }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Data(use.utf8), outputByteCount: 32)
    }

    /// The secrets of a tenant's webhooks, one for each number and key, the current one first. What tokens are derived
    /// from begins with their prefix, so that none is derived from the same words; and no two tenants' numbers are.
    func webhookSecrets(
        of tenant: TenantID, by numbers: [SigningNumber]
    ) throws(StoreError) -> [SigningSecret] {
        try reloadIfChanged()
        let keys = state.withLock { $0.keys }
        return numbers.flatMap { number in
            keys.map { key in
                let words = number.number == 0 ? "callback:" : "callback/\(number.number):"
                let code = HMAC<SHA256>.authenticationCode(for: Data((words + tenant.rawValue).utf8), using: key.key)
                return SigningSecret(
                    id: "\(number.number)-\(key.kid)", secret: WebhookSecret(bytes: Data(code)),
                    createdAt: max(number.createdAt, key.createdAt), endsAt: number.endsAt)
            }
        }
    }

    /// Puts a new key in front. Tokens of the old ones stay good.
    ///
    /// - Throws: `givenKeys` where they are another's to change.
    func rotate() throws(StoreError) {
        try reloadIfChanged()
        try file.change { $0.isEmpty ? [] : [.new()] + $0 }
        try reloadIfChanged()
    }

    /// Drops the keys that no live token needs: neither the current one nor those in `kids`.
    func prune(keeping kids: Set<String>, now: Instant = .wallClock()) throws(StoreError) {
        func remaining(_ keys: [TokenKey]) -> [TokenKey] {
            keys.enumerated().filter { index, key in
                // A key was rotated out when its successor was made.
                index == 0 || kids.contains(key.kid) || keys[index - 1].createdAt + Self.grace > now
            }.map(\.element)
        }
        let keys = state.withLock { $0.keys }
        guard remaining(keys).count < keys.count else { return }
        do throws(StoreError) { try file.change(remaining) } catch {
            // Whoever gives them drops them, too.
            if case .givenKeys = error { return }
            throw error
        }
        try reloadIfChanged()
    }

    private func reloadIfChanged() throws(StoreError) {
        guard file.version != state.withLock({ $0.version }) else { return }
        guard let (keys, version) = try file.load() else {
            throw .damagedKeys(path: file.path, reason: "it was removed")
        }
        state.withLock { state in
            state.keys = keys
            state.version = version
        }
    }
}
