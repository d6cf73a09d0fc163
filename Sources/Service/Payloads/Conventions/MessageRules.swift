import SatchelCore

/// What a service has the messages look like that it takes: where their media, their texts and an app's own data are.
///
/// Pointers are those of a message; see ``MessageRules/maximumMessages``.
struct MessageRules: Sendable {
    /// What is to be sent, for whoever sent something else.
    var form: String
    /// The object that a message has.
    var required: JSONPointer?
    /// More than 1: a body may also be an array of messages, each by itself.
    var maximumMessages = 1
    var conventions: [Convention]
    /// A message is shown where one of these is there and isn't null.
    var shown: [JSONPointer]
    /// The category's id.
    var category: [JSONPointer] = []
    var texts: Texts
    /// What has the system run an app's service extension; nil where it does so by itself, or there is none.
    var mutability: Mutability?
    var satchel: SatchelPlace
    /// What says who gets a message, or how it is sent. It isn't delivered, so it doesn't count.
    var addressing: [JSONPointer] = []

    /// Where the words are that are shown; of each the first that is there.
    struct Texts: Sendable {
        var title: [JSONPointer]
        var subtitle: [JSONPointer] = []
        var body: [JSONPointer]
    }

    struct Mutability: Sendable {
        /// Objects that aren't there yet are made.
        var object: JSONPointer
        var key: String
        var value: JSONValue
        /// A message that has none of these isn't for devices with extensions. Empty: each is.
        var audience: [JSONPointer] = []
    }

    /// Where the key `satchel` is, so that whoever shows the message can read it.
    struct SatchelPlace: Sendable {
        /// The object that it is in, of a message. Objects that aren't there yet are made.
        var object: @Sendable (JSONValue) -> JSONPointer
        /// Whether its value is JSON within a string.
        var isText = false
        /// Bytes of the object, at most.
        var limit: Int?

        init(in object: String..., isText: Bool = false, limit: Int? = nil) {
            let pointer = JSONPointer(tokens: object)
            self.object = { _ in pointer }
            self.isText = isText
            self.limit = limit
        }

        init(_ object: @escaping @Sendable (JSONValue) -> JSONPointer) {
            self.object = object
        }
    }
}

extension JSONPointer {
    /// `("message", "data")` is `/message/data`.
    init(_ first: String, _ others: String...) {
        self.init(tokens: [first] + others)
    }

    static let root = JSONPointer(tokens: [])
}

extension PayloadFormat {
    var rules: MessageRules {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        case .onesignal: .oneSignal
        case .expo: .expo
        case .webpush: .webPush
        }
    }
}

extension MessageRules {
    /// Whether anybody sees a message.
    func shows(_ message: JSONDocument) -> Bool {
        shown.contains { message.paths(to: $0).contains { !message[$0].isNull } }
    }

    /// Bytes of a message, but for what isn't delivered.
    func size(of message: JSONDocument) -> Int {
        guard !addressing.isEmpty else { return message.bytes.count }
        var delivered = message
        delivered.remove(addressing.flatMap(message.paths(to:)))
        return delivered.bytes.count
    }

    /// Whether a service extension runs, or none is needed.
    func isMutable(_ message: JSONDocument) -> Bool {
        guard let mutability, mutability.concerns(message) else { return true }
        let place = JSONPointer(tokens: mutability.object.tokens + [mutability.key])
        return message.paths(to: place).contains { mutability.holds(message[$0]) }
    }
}

extension MessageRules.Mutability {
    func concerns(_ message: JSONDocument) -> Bool {
        audience.isEmpty || audience.contains { !message.paths(to: $0).isEmpty }
    }

    /// Whether a value says the same: `1.0` is 1 too.
    func holds(_ other: JSONValue) -> Bool {
        other == value || (other.number != nil && other.number == value.number)
    }
}
