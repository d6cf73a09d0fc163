extension MessageRules {
    /// The body of a request to Expo's push service (*Send notifications with Expo's Push API*): a message, or an array of
    /// up to 100 of them.
    ///
    /// The key `satchel` is in `data`, which the app gets; on iOS that is `body` of `userInfo`. Android shows the image out of
    /// the box, iOS by an extension, for which `mutableContent` is set.
    static let expo = MessageRules(
        form: "an Expo message, or an array of at most 100 messages, each an object",
        maximumMessages: 100,
        conventions: [Convention("richContent", "image", display: .android)],
        shown: [JSONPointer("title"), JSONPointer("subtitle"), JSONPointer("body")],
        category: [JSONPointer("categoryId")],
        texts: Texts(
            title: [JSONPointer("title")], subtitle: [JSONPointer("subtitle")], body: [JSONPointer("body")]),
        mutability: Mutability(object: .root, key: "mutableContent", value: JSONValue(true)),
        satchel: SatchelPlace(in: "data"),
        addressing: [JSONPointer("to")])
}
