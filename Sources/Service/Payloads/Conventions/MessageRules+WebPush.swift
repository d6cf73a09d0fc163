extension MessageRules {
    /// The text of a Web Push message. What it says is between a site and its service worker; most use the names of
    /// `NotificationOptions` (Notifications API), at the root or under `notification`, where a declarative push message
    /// (`"web_push": 8030`, Push API) has them.
    ///
    /// The key `satchel` is at the root; in a declarative message it is in `notification.data`, which a service worker finds as
    /// `data` of the notification even where the browser has shown it. Browsers fetch pictures by themselves. Every push is
    /// shown: subscriptions are `userVisibleOnly`.
    static let webPush = MessageRules(
        form: "the data for the service worker: an object",
        conventions: [
            Convention("image", display: .browser), Convention("icon", display: .browser),
            Convention("badge", display: .browser),
            Convention("notification", "image", display: .browser),
            Convention("notification", "icon", display: .browser),
            Convention("notification", "badge", display: .browser),
        ],
        shown: [.root],
        texts: Texts(
            title: [JSONPointer("title"), JSONPointer("notification", "title")],
            body: [JSONPointer("body"), JSONPointer("notification", "body")]),
        satchel: SatchelPlace { message in
            message["web_push"]?.number == 8030 ? JSONPointer("notification", "data") : .root
        })
}
