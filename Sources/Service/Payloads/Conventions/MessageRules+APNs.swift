extension MessageRules {
    /// The payload of a push as APNs delivers it: Apple, *Generating a remote notification*.
    static let apns = MessageRules(
        form: "an APNs payload: an object with the key 'aps'",
        conventions: Convention.known,
        shown: [JSONPointer("aps", "alert")],
        category: [JSONPointer("aps", "category")],
        // Read from the alert itself.
        texts: Texts(title: [], body: []),
        mutability: Mutability(object: JSONPointer("aps"), key: "mutable-content", value: JSONValue(1.0)),
        satchel: SatchelPlace())
}
