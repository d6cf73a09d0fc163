extension MessageRules {
    /// The body of OneSignal's `POST /notifications` (*Push notification content* of its API reference).
    ///
    /// The key `satchel` is in `data`, which its SDKs hand over as additional data: at most 2048 bytes (*OSNotification
    /// payload*); on iOS that is `custom.a` of `userInfo`. OneSignal has the extension run by itself.
    static let oneSignal = MessageRules(
        form: "the body of OneSignal's notifications: an object",
        conventions: [
            Convention("ios_attachments", shape: .urlsByIdentifier),
            Convention("big_picture", display: .android),
            Convention("chrome_web_image", display: .browser),
        ],
        shown: [JSONPointer("contents"), JSONPointer("headings"), JSONPointer("template_id")],
        category: [JSONPointer("ios_category")],
        // English is always there, and shown to whoever has no better.
        texts: Texts(
            title: [JSONPointer("headings", "en")], subtitle: [JSONPointer("subtitle", "en")],
            body: [JSONPointer("contents", "en")]),
        satchel: SatchelPlace(in: "data", limit: 2048),
        addressing: [
            "app_id", "include_aliases", "include_subscription_ids", "include_player_ids", "include_external_user_ids",
            "included_segments", "excluded_segments", "filters", "target_channel", "idempotency_key", "external_id",
            "name",
        ].map { JSONPointer($0) })
}
