import SatchelCore
import Foundation
import Payloads
import Testing

@testable import API

/// What is on a preview's page before any script runs.
@Suite struct PreviewPageTests {
    private static let hostile = "<b onclick=x>\"'&amp; javascript:alert(1) \u{202E}gpj.exe\u{2066}</b>"

    static func medium(
        _ identifier: String, _ type: MediaType = .jpeg, kind: MediaKind = .image, width: Int? = 1000,
        height: Int? = 600, options: DisplayOptions = DisplayOptions()
    ) -> EnrichedMedium {
        var record = AttachmentRecord(
            id: .generate(), tenant: .local, job: .generate(), identifier: identifier, state: .delivered,
            source: SourceFacts(name: "\(identifier).heic"), options: options, createdAt: Instant(milliseconds: 0))
        let rendition = Rendition(
            mediaType: type, width: width, height: height, duration: nil, bytes: 1_250_000, sha256: "")
        record.kind = kind
        record.best = .main
        record.fidelity = .reduced
        record.renditions = [.main: rendition, .thumbnail: rendition]
        record.renditions[.thumbnail]?.mediaType = .jpeg
        record.steps = [Step(name: "identify", seconds: 0.012, note: "a HEIC of 1000 × 600")]
        let url = "http://s/c/satn_x/main.\(type.fileExtension)"
        return EnrichedMedium(
            identifier: record.identifier, record: record,
            outcome: .success(
                DeliveredMedium(
                    url: url, type: type, bytes: 1_250_000, width: width, height: height, options: options)),
            urls: [.main: url, .thumbnail: "http://s/c/satn_x/thumbnail.jpg"], expiresAt: nil)
    }

    private func page(_ preview: NotificationPreview, _ appearance: PreviewAppearance = PreviewAppearance()) -> String {
        PreviewPage(preview: preview, appearance: appearance).html(PagePolicy()).description
    }

    private func preview(
        _ payload: String =
            #"{"aps": {"alert": {"title": "T", "subtitle": "S", "body": "B"}, "category": "c", "mutable-content": 1}}"#,
        _ category: Category? = nil, _ media: EnrichedMedium...
    ) -> NotificationPreview {
        NotificationPreview(payload: Array(payload.utf8), category: category, media: media)
    }

    // MARK: Texts

    @Test(arguments: [
        (#""A""#, [nil, nil, "A"]), (#"{"title": "T", "body": "B"}"#, ["T", nil, "B"]),
        (#"{"title-loc-key": "K", "title-loc-args": ["1", "2"], "loc-key": "L"}"#, ["K (1, 2)", nil, "L"]),
        (#"{"subtitle-loc-key": "S", "body": ""}"#, [nil, "S", nil]), ("null", [nil, nil, nil]),
        (#"{"title": 1, "body": ["x"]}"#, [nil, nil, nil]), ("[]", [nil, nil, nil]),
    ])
    func `an alert says its texts, or the keys of those that the app has`(alert: String, texts: [String?]) throws {
        let value = try JSONDocument.read(Array(alert.utf8), .passedOn).root
        let text = AlertText(value)
        #expect([text.title, text.subtitle, text.body] == texts)
    }

    @Test func `strangers' texts are texts, wherever they stand`() throws {
        let text = Self.hostile
        let json = String(decoding: try JSON.encode(text), as: UTF8.self)
        let category = Category(
            id: "c", options: [.hiddenPreviewsShowTitle], hiddenBody: text,
            actions: [
                CategoryAction(id: text, title: text, textInput: TextInput(buttonTitle: text, placeholder: text)),
                CategoryAction(id: "2", title: "2"), CategoryAction(id: "3", title: text),
            ],
            extension: ContentExtension(
                userInteraction: true,
                controls: [
                    .button(title: text, does: .open),
                    .slider(title: text, sets: .opacity, minimum: 0, maximum: 1, value: 1),
                ]))
        var failed = Self.medium(text)
        failed.outcome = .failure(MediumFailure(.invalidSource(reason: text)))
        failed.record?.source.name = text
        var steps = Self.medium(text)
        steps.record?.steps = [Step(name: "x", seconds: 0, note: text)]
        let preview = preview(
            #"{"aps": {"alert": {"title": \#(json), "subtitle": \#(json), "body": \#(json)}, "category": "c"}, \#(json): \#(json)}"#,
            category, failed, steps)
        let html = PreviewPage(preview: preview, problems: [text]).html(PagePolicy()).description
        #expect(!html.contains("<b onclick") && !html.contains("</b>") && html.contains("&lt;b onclick=x&gt;"))
        // Where directions are turned, it is within an element that ends it, in an attribute, or shown as an escape.
        let outside = html.replacing(/<bdi>[^<]*<\/bdi>/, with: "").replacing(/="[^"]*"/, with: "")
        #expect(!outside.unicodeScalars.contains("\u{202E}"))
        #expect(outside.contains("\\u202e") && outside.contains("\\u{202E}"))
    }

    // MARK: Collapsed

    @Test func `with previews hidden only what the category lets is seen`() throws {
        func hidden(_ category: Category?) throws -> String {
            let page = page(preview(preview().text, category))
            let last = try #require(page.components(separatedBy: "hidden-previews").last)
            return try #require(last.components(separatedBy: "</figure>").first)
        }
        let plain = try hidden(nil)
        #expect(plain.contains("<bdi>Notification</bdi>") && !plain.contains("<bdi>B</bdi>"))
        let said = try hidden(
            Category(id: "c", options: [.hiddenPreviewsShowSubtitle], hiddenBody: "%u messages"))
        #expect(
            said.contains("<bdi>1 messages</bdi>") && said.contains("<bdi>S</bdi>") && !said.contains("<bdi>T</bdi>"))
        let titled = try hidden(Category(id: "c", options: [.hiddenPreviewsShowTitle]))
        #expect(titled.contains("<bdi>T</bdi>") && !titled.contains("<bdi>S</bdi>"))
    }

    @Test func `a thumbnail is there but where it is to be hidden, and for sound`() {
        func thumbnails(_ medium: EnrichedMedium) -> Int {
            page(preview(preview().text, nil, medium)).matches(of: /class="thumbnail"/).count
        }
        #expect(thumbnails(Self.medium("a")) == 3)
        #expect(thumbnails(Self.medium("a", options: DisplayOptions(thumbnailHidden: true))) == 0)
        var sound = Self.medium("a", .m4a, kind: .audio, width: nil, height: nil)
        sound.urls = [.main: "http://s/c/satn_x/main.m4a", .waveform: "http://s/c/satn_x/waveform.png"]
        #expect(thumbnails(sound) == 0)
    }

    // MARK: Opened

    @Test func `a category's ratio is reserved, its default content hidden, its controls there, only where it says so`()
    {
        let shown = Category(id: "c", extension: ContentExtension(initialContentSizeRatio: 0.6))
        let html = page(preview(preview().text, shown, Self.medium("a")))
        #expect(html.contains("--ratio: 0.6 }") && html.contains(#"id="box""#))
        #expect(html.contains(#"<div class="content" id="content">"#) && !html.contains("data-does"))
        var hidden = shown
        hidden.extension?.defaultContentHidden = true
        hidden.extension?.controls = [.button(title: "Launch App", does: .open)]
        #expect(page(preview(preview().text, hidden)).contains(#"<div class="content" id="content" hidden>"#))
        #expect(!page(preview(preview().text, hidden)).contains("data-does"))
        hidden.extension?.userInteraction = true
        #expect(page(preview(preview().text, hidden)).contains(#"data-does="open""#))
        #expect(!page(preview()).contains(#"id="box""#))
    }

    @Test func `each kind of medium is shown as what it is, the first at first`() {
        let html = page(
            preview(
                preview().text, nil, Self.medium("clip", .mp4, kind: .video),
                Self.medium("loop", .gif, kind: .animation),
                Self.medium("voice", .m4a, kind: .audio, width: nil, height: nil)))
        #expect(html.contains(#"<div class="medium" data-attachment="clip">"#))
        #expect(html.contains(#"<div class="medium" data-attachment="loop" hidden>"#))
        #expect(
            html.contains(
                #"preload="metadata" src="http://s/c/satn_x/main.mp4" poster="http://s/c/satn_x/thumbnail.jpg" width="1000""#
            ))
        // For who wants no motion.
        #expect(
            html.contains(
                #"<source srcset="http://s/c/satn_x/thumbnail.jpg" media="(prefers-reduced-motion: reduce)">"#))
        #expect(html.contains(#"<audio controls preload="none" src="http://s/c/satn_x/main.m4a" aria-label="voice">"#))
    }

    // MARK: Facts

    @Test func `facts have figures, warnings codes, and steps their notes`() {
        var preview = preview(preview().text, nil, Self.medium("photo"))
        preview.dropped = [DroppedPart(.previewURL, of: "photo").text]
        let html = page(preview)
        for text in [
            "103 of 4,096", "preview_url of photo", "1,250,000", "1000 × 600",
            "10 s at 1, 1 s at 10, 0.2 s at 50 Mbit/s", "2,400,000 of about 24,000,000",
            "identify, 0.012 s: a HEIC of 1000 × 600", "<code>unknown_category</code>", "<code>payload_cut</code>",
            "lower quality",
        ] {
            #expect(html.contains(text), "there is no \(text)")
        }
    }

    @Test func `how it is looked at is in the page, and what can't be understood is as usual`() {
        var appearance = PreviewAppearance()
        #expect(page(preview(), appearance).contains("--phone: 390px"))
        appearance.width = 320
        appearance.theme = .dark
        appearance.direction = .rightToLeft
        let html = page(preview(), appearance)
        #expect(html.contains("--phone: 320px") && html.contains(#"data-theme="dark""#) && html.contains(#"dir="rtl""#))
    }

    @Test func `nothing of the page is inline but its one style, and nothing is from elsewhere`() {
        let policy = PagePolicy()
        let html = PreviewPage(preview: preview(preview().text, nil, Self.medium("a"))).html(policy).description
        #expect(html.matches(of: /<style/).count == 1 && html.contains("<style nonce=\"\(policy.nonce)\">"))
        #expect(html.matches(of: /<script/).count == 1 && html.contains(#"<script type="module" src="/assets/"#))
        #expect(html.matches(of: /\sstyle=|\son[a-z]+=/).isEmpty)
    }

    @Test func `where nothing can be shown the page says why, and follows`() {
        let page = PreviewPage(
            problems: ["The payload is not valid JSON."], follows: .init(path: "/p/x/version", version: 3))
        let html = page.html(PagePolicy()).description
        #expect(html.contains("Cannot show this notification") && html.contains("The payload is not valid JSON."))
        #expect(
            html.contains(
                #"data-preview="{&quot;follow&quot;: {&quot;path&quot;: &quot;/p/x/version&quot;, &quot;version&quot;: 3}}""#
            ))
    }
}

extension NotificationPreview {
    fileprivate var text: String { String(decoding: payload, as: UTF8.self) }
}
