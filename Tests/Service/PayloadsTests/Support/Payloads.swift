import SatchelCore

@testable import Payloads

/// A payload of a convention, and what becomes of it.
struct ConventionExample: Sendable, CustomStringConvertible {
    var description: String
    var payload: String
    /// `identifier pointer url` of each medium that is found.
    var media: [String]
    /// With all media delivered as `https://m/c/1/main.jpg` and so on, and without the key `satchel`.
    var shown: String
    /// With all media failed and dropped.
    var dropped: String
}

extension ConventionExample {
    static let all: [ConventionExample] = [
        ConventionExample(
            description: "plain",
            payload:
                #"{"aps":{"alert":{"title":"Ada","body":"sent a photo"},"category":"message","mutable-content":1},"my-attachment":"https://o.example/a.heic","id":4711}"#,
            media: ["my-attachment /my-attachment https://o.example/a.heic"],
            shown:
                #"{"aps":{"alert":{"title":"Ada","body":"sent a photo"},"category":"message","mutable-content":1},"my-attachment":"https://m/c/1/main.jpg","id":4711}"#,
            dropped:
                #"{"aps":{"alert":{"title":"Ada","body":"sent a photo"},"category":"message","mutable-content":1},"id":4711}"#
        ),
        ConventionExample(
            description: "FCM",
            payload:
                #"{"google.c.a.e":"1","gcm.message_id":"1700000000000000","aps":{"alert":{"title":"Hi","body":"Look"},"mutable-content":1},"google.c.sender.id":"97589","fcm_options":{"image":"https:\/\/o.example\/a.png"}}"#,
            media: ["image /fcm_options/image https://o.example/a.png"],
            shown:
                #"{"google.c.a.e":"1","gcm.message_id":"1700000000000000","aps":{"alert":{"title":"Hi","body":"Look"},"mutable-content":1},"google.c.sender.id":"97589","fcm_options":{"image":"https://m/c/1/main.jpg"}}"#,
            dropped:
                #"{"google.c.a.e":"1","gcm.message_id":"1700000000000000","aps":{"alert":{"title":"Hi","body":"Look"},"mutable-content":1},"google.c.sender.id":"97589"}"#
        ),
        ConventionExample(
            description: "OneSignal",
            payload:
                #"{"aps":{"alert":{"body":"Hello"},"sound":"default","mutable-content":1},"os_data":{"i":"b2f7f966-d8cc-11e4-bed1-df8f05be55ba","att":{"cat":"https://o.example/cat.jpg","tune":"https://o.example/tune.mp3"},"buttons":{"o":[{"i":"yes","n":"Yes"}]}},"custom":{"a":{"k":"v"}}}"#,
            media: [
                "cat /os_data/att/cat https://o.example/cat.jpg", "tune /os_data/att/tune https://o.example/tune.mp3",
            ],
            shown:
                #"{"aps":{"alert":{"body":"Hello"},"sound":"default","mutable-content":1},"os_data":{"i":"b2f7f966-d8cc-11e4-bed1-df8f05be55ba","att":{"cat":"https://m/c/1/main.jpg","tune":"https://m/c/2/main.jpg"},"buttons":{"o":[{"i":"yes","n":"Yes"}]}},"custom":{"a":{"k":"v"}}}"#,
            dropped:
                #"{"aps":{"alert":{"body":"Hello"},"sound":"default","mutable-content":1},"os_data":{"i":"b2f7f966-d8cc-11e4-bed1-df8f05be55ba","buttons":{"o":[{"i":"yes","n":"Yes"}]}},"custom":{"a":{"k":"v"}}}"#
        ),
        ConventionExample(
            description: "OneSignal, before",
            payload: #"{"aps":{"alert":"Hello"},"att":{"id":"https://o.example/a.gif"},"custom":{"i":"x"}}"#,
            media: ["id /att/id https://o.example/a.gif"],
            shown:
                #"{"aps":{"alert":"Hello","mutable-content":1},"att":{"id":"https://m/c/1/main.jpg"},"custom":{"i":"x"}}"#,
            dropped: #"{"aps":{"alert":"Hello"},"custom":{"i":"x"}}"#),
        ConventionExample(
            description: "Airship, one URL",
            payload:
                #"{"aps":{"alert":"Hi","mutable-content":1},"_":"a-push-id","com.urbanairship.media_attachment":{"url":"https://o.example/a.gif","options":{"crop":{"x":0.25,"y":0.25,"width":0.5,"height":0.5},"time":15},"content":{"title":"Moving","body":"pictures"}}}"#,
            media: ["url /com.urbanairship.media_attachment/url https://o.example/a.gif"],
            shown:
                #"{"aps":{"alert":"Hi","mutable-content":1},"_":"a-push-id","com.urbanairship.media_attachment":{"url":"https://m/c/1/main.jpg","options":{"crop":{"x":0.25,"y":0.25,"width":0.5,"height":0.5},"time":15},"content":{"title":"Moving","body":"pictures"}}}"#,
            dropped:
                #"{"aps":{"alert":"Hi","mutable-content":1},"_":"a-push-id","com.urbanairship.media_attachment":{"content":{"title":"Moving","body":"pictures"}}}"#
        ),
        ConventionExample(
            description: "Airship, an array of URLs",
            payload:
                #"{"aps":{"alert":"Hi"},"com.urbanairship.media_attachment":{"url":["https://o.example/1.jpg","https://o.example/2.jpg"],"options":{"hidden":true}}}"#,
            media: [
                "url /com.urbanairship.media_attachment/url/0 https://o.example/1.jpg",
                "url-2 /com.urbanairship.media_attachment/url/1 https://o.example/2.jpg",
            ],
            shown:
                #"{"aps":{"alert":"Hi","mutable-content":1},"com.urbanairship.media_attachment":{"url":["https://m/c/1/main.jpg","https://m/c/2/main.jpg"],"options":{"hidden":true}}}"#,
            dropped: #"{"aps":{"alert":"Hi"}}"#),
        ConventionExample(
            description: "Airship, URLs with identifiers",
            payload:
                #"{"aps":{"alert":"Hi"},"com.urbanairship.media_attachment":{"urls":[{"url":"https://o.example/1.jpg","url_id":"big"},{"url_id":"small","url":"https://o.example/2.jpg"}],"thumbnail_id":"small"}}"#,
            media: [
                "big /com.urbanairship.media_attachment/urls/0/url https://o.example/1.jpg",
                "small /com.urbanairship.media_attachment/urls/1/url https://o.example/2.jpg",
            ],
            shown:
                #"{"aps":{"alert":"Hi","mutable-content":1},"com.urbanairship.media_attachment":{"urls":[{"url":"https://m/c/1/main.jpg","url_id":"big"},{"url_id":"small","url":"https://m/c/2/main.jpg"}],"thumbnail_id":"small"}}"#,
            dropped: #"{"aps":{"alert":"Hi"}}"#),
        ConventionExample(
            description: "Braze",
            payload:
                #"{"ab":{"c":"abc123","att":{"type":"heic","url":"https://o.example/a.heic","aof":0}},"ab_uri":"app://home","aps":{"alert":{"title":"T","body":"B"},"mutable-content":1}}"#,
            media: ["url /ab/att/url https://o.example/a.heic"],
            shown:
                #"{"ab":{"c":"abc123","att":{"type":"jpg","url":"https://m/c/1/main.jpg","aof":0}},"ab_uri":"app://home","aps":{"alert":{"title":"T","body":"B"},"mutable-content":1}}"#,
            dropped:
                #"{"ab":{"c":"abc123","att":{"aof":0}},"ab_uri":"app://home","aps":{"alert":{"title":"T","body":"B"},"mutable-content":1}}"#
        ),
        ConventionExample(
            description: "CleverTap with a kind",
            payload:
                #"{"aps":{"alert":{"body":"Testing","title":"Campaign"},"mutable-content":1,"sound":"default"},"ct_mediaType":"video","ct_mediaUrl":"https://o.example/a.webp","wzrk_id":"1591036839_20200601","W$rnv":true}"#,
            media: ["ct_mediaUrl /ct_mediaUrl https://o.example/a.webp"],
            shown:
                #"{"aps":{"alert":{"body":"Testing","title":"Campaign"},"mutable-content":1,"sound":"default"},"ct_mediaType":"image","ct_mediaUrl":"https://m/c/1/main.jpg","wzrk_id":"1591036839_20200601","W$rnv":true}"#,
            dropped:
                #"{"aps":{"alert":{"body":"Testing","title":"Campaign"},"mutable-content":1,"sound":"default"},"wzrk_id":"1591036839_20200601","W$rnv":true}"#
        ),
        ConventionExample(
            description: "CleverTap with a media type",
            payload: #"{"ct_mediaUrl":"https://o.example/a.png","aps":{"alert":"A"},"ct_mediaType":"image/png"}"#,
            media: ["ct_mediaUrl /ct_mediaUrl https://o.example/a.png"],
            shown:
                #"{"ct_mediaUrl":"https://m/c/1/main.jpg","aps":{"alert":"A","mutable-content":1},"ct_mediaType":"image/jpeg"}"#,
            dropped: #"{"aps":{"alert":"A"}}"#),
        ConventionExample(
            description: "Expo",
            payload:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"body":{"_richContent":{"image":"https://o.example/a.jpg"},"x":1},"experienceId":"@u/app","projectId":"p"}"#,
            media: ["image /body/_richContent/image https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"body":{"_richContent":{"image":"https://m/c/1/main.jpg"},"x":1},"experienceId":"@u/app","projectId":"p"}"#,
            dropped:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"body":{"x":1},"experienceId":"@u/app","projectId":"p"}"#
        ),
        ConventionExample(
            description: "Expo at the root",
            payload: #"{"aps":{"alert":"A"},"_richContent":{"image":"https://o.example/a.jpg"}}"#,
            media: ["image /_richContent/image https://o.example/a.jpg"],
            shown: #"{"aps":{"alert":"A","mutable-content":1},"_richContent":{"image":"https://m/c/1/main.jpg"}}"#,
            dropped: #"{"aps":{"alert":"A"}}"#),
        ConventionExample(
            description: "Iterable",
            payload:
                #"{"aps":{"alert":{"body":"A"},"mutable-content":1},"itbl":{"campaignId":12,"templateId":34,"messageId":"m","isGhostPush":false,"attachment-url":"https://o.example/a.jpg"}}"#,
            media: ["attachment-url /itbl/attachment-url https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"body":"A"},"mutable-content":1},"itbl":{"campaignId":12,"templateId":34,"messageId":"m","isGhostPush":false,"attachment-url":"https://m/c/1/main.jpg"}}"#,
            dropped:
                #"{"aps":{"alert":{"body":"A"},"mutable-content":1},"itbl":{"campaignId":12,"templateId":34,"messageId":"m","isGhostPush":false}}"#
        ),
        ConventionExample(
            description: "Pinpoint",
            payload:
                #"{"aps":{"alert":{"body":"A","title":"T"},"mutable-content":1},"data":{"media-url":"https://o.example/a.jpg","pinpoint":{"deeplink":"app://x"}}}"#,
            media: ["media-url /data/media-url https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"body":"A","title":"T"},"mutable-content":1},"data":{"media-url":"https://m/c/1/main.jpg","pinpoint":{"deeplink":"app://x"}}}"#,
            dropped:
                #"{"aps":{"alert":{"body":"A","title":"T"},"mutable-content":1},"data":{"pinpoint":{"deeplink":"app://x"}}}"#
        ),
        ConventionExample(
            description: "Pusher Beams",
            payload:
                #"{"aps":{"alert":"A","mutable-content":1},"data":{"attachment-url":"https://o.example/a.png","pusher":{"publishId":"p"}}}"#,
            media: ["attachment-url /data/attachment-url https://o.example/a.png"],
            shown:
                #"{"aps":{"alert":"A","mutable-content":1},"data":{"attachment-url":"https://m/c/1/main.jpg","pusher":{"publishId":"p"}}}"#,
            dropped: #"{"aps":{"alert":"A","mutable-content":1},"data":{"pusher":{"publishId":"p"}}}"#),
        ConventionExample(
            description: "Salesforce, alert with a body",
            payload:
                #"{"aps":{"alert":{"title":"T","body":"See the picture"},"mutable-content":1},"_mt":"1","_mediaUrl":"https://o.example/a.jpg","_mediaAlt":"A \u201cred\u201d shoe","_m":"NTc6"}"#,
            media: ["_mediaUrl /_mediaUrl https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"title":"T","body":"See the picture"},"mutable-content":1},"_mt":"1","_mediaUrl":"https://m/c/1/main.jpg","_mediaAlt":"A \u201cred\u201d shoe","_m":"NTc6"}"#,
            dropped:
                #"{"aps":{"alert":{"title":"T","body":"A \u201cred\u201d shoe"},"mutable-content":1},"_mt":"1","_m":"NTc6"}"#
        ),
        ConventionExample(
            description: "Salesforce, alert as text",
            payload:
                #"{"aps":{"alert":"See the picture"},"_mediaUrl":"https://o.example/a.jpg","_mediaAlt":"A red shoe"}"#,
            media: ["_mediaUrl /_mediaUrl https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":"See the picture","mutable-content":1},"_mediaUrl":"https://m/c/1/main.jpg","_mediaAlt":"A red shoe"}"#,
            dropped: #"{"aps":{"alert":"A red shoe"}}"#),
        ConventionExample(
            description: "Adobe",
            payload:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"adb_media":"https://o.example/a.jpg","adb_uri":"https://example.com"}"#,
            media: ["adb_media /adb_media https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"adb_media":"https://m/c/1/main.jpg","adb_uri":"https://example.com"}"#,
            dropped: #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"adb_uri":"https://example.com"}"#),
        ConventionExample(
            description: "Mindbox",
            payload:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"uniqueKey":"u","imageUrl":"https://o.example/a.jpg","clickUrl":"https://example.com"}"#,
            media: ["imageUrl /imageUrl https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"uniqueKey":"u","imageUrl":"https://m/c/1/main.jpg","clickUrl":"https://example.com"}"#,
            dropped:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"uniqueKey":"u","clickUrl":"https://example.com"}"#
        ),
        ConventionExample(
            description: "Emarsys",
            payload:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"notification":{"imageUrl":"https://o.example/a.jpg","campaignId":"c"},"ems":{"multichannelId":"m"}}"#,
            media: ["imageUrl /notification/imageUrl https://o.example/a.jpg"],
            shown:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"notification":{"imageUrl":"https://m/c/1/main.jpg","campaignId":"c"},"ems":{"multichannelId":"m"}}"#,
            dropped:
                #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1},"notification":{"campaignId":"c"},"ems":{"multichannelId":"m"}}"#
        ),
    ]
}

extension PushPayload {
    init(_ text: String, format: PayloadFormat = .apns, type: PushType = .alert, pointers: [String] = []) throws {
        try self.init(Array(text.utf8), format: format, type: type, pointers: pointers.compactMap(JSONPointer.init))
    }

    /// All media delivered: the first as `https://m/c/1/main.jpg`.
    var delivered: [MediumOutcome] {
        media.indices.map { .success(DeliveredMedium(url: "https://m/c/\($0 + 1)/main.jpg", type: .jpeg, bytes: 1000)) }
    }

    var failed: [MediumOutcome] {
        media.map { _ in .failure(MediumFailure(.fetchFailed(.status, status: 404, reason: "it is gone"))) }
    }

    func enriched(_ outcomes: [MediumOutcome], _ mode: FailureMode = .drop) throws -> String {
        let expiry = Instant(milliseconds: 1_795_342_500_999)
        return String(decoding: try enriched(with: outcomes, onFailure: mode, expiresAt: expiry).bytes, as: UTF8.self)
    }
}
