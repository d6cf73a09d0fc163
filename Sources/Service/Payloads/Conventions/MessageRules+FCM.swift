extension MessageRules {
    /// The body of FCM's `projects.messages:send`: a `message`, with texts for all platforms, and blocks for one each.
    ///
    /// The key `satchel` is in `message.data`, which all platforms get: its values are strings, and no reserved word begins
    /// like it (reference of `projects.messages`, field `data`). On iOS it is then a string at the root of `userInfo`. An image
    /// is shown there by an extension, for which `mutable-content` is set (*Send an image in the notification payload*). A
    /// data message is shown by the app, if it shows it (*Firebase Cloud Messaging message types*).
    static let fcm = MessageRules(
        form: "the body of FCM's messages:send: an object with the key 'message'",
        required: JSONPointer("message"),
        conventions: [
            // For all platforms, so within the limits of each.
            Convention("message", "notification", "image", display: .android),
            Convention("message", "android", "notification", "image", display: .android),
            Convention("message", "apns", "fcm_options", "image"),
            Convention("message", "webpush", "notification", "image", display: .browser),
            Convention("message", "webpush", "notification", "icon", display: .browser),
            Convention("message", "webpush", "notification", "badge", display: .browser),
        ],
        shown: [
            JSONPointer("message", "notification"), JSONPointer("message", "android", "notification"),
            JSONPointer("message", "webpush", "notification"),
            JSONPointer("message", "apns", "payload", "aps", "alert"),
            JSONPointer("message", "data"),
        ],
        category: [JSONPointer("message", "apns", "payload", "aps", "category")],
        texts: Texts(
            title: [
                JSONPointer("message", "notification", "title"),
                JSONPointer("message", "apns", "payload", "aps", "alert", "title"),
                JSONPointer("message", "android", "notification", "title"),
                JSONPointer("message", "webpush", "notification", "title"),
            ],
            subtitle: [JSONPointer("message", "apns", "payload", "aps", "alert", "subtitle")],
            body: [
                JSONPointer("message", "notification", "body"),
                JSONPointer("message", "apns", "payload", "aps", "alert", "body"),
                JSONPointer("message", "apns", "payload", "aps", "alert"),
                JSONPointer("message", "android", "notification", "body"),
                JSONPointer("message", "webpush", "notification", "body"),
            ]),
        mutability: Mutability(
            object: JSONPointer("message", "apns", "payload", "aps"), key: "mutable-content", value: JSONValue(1.0),
            audience: [JSONPointer("message", "notification"), JSONPointer("message", "apns")]),
        satchel: SatchelPlace(in: "message", "data", isText: true),
        addressing: [
            JSONPointer("validate_only"), JSONPointer("message", "token"), JSONPointer("message", "topic"),
            JSONPointer("message", "condition"), JSONPointer("message", "name"),
        ])
}
