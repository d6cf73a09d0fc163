import SatchelCore
import Testing

@Suite struct NotificationWarningTests {
    static let photo = NotificationFacts.Medium(
        identifier: "photo", size: PixelSize(width: 1000, height: 600), isPicture: true)

    static var sound: NotificationFacts {
        NotificationFacts(
            hasAlert: true, isMutable: true, categoryID: "red",
            category: Category(
                id: "red", actions: [CategoryAction(id: "a", title: "A"), CategoryAction(id: "b", title: "B")],
                extension: ContentExtension(initialContentSizeRatio: 0.6)),
            media: [photo], linksEnd: Instant(milliseconds: 86_400_000), pushEnds: Instant(milliseconds: 86_400_000))
    }

    struct Case: CustomTestStringConvertible {
        var codes: [NotificationWarning.Code]
        var change: @Sendable (inout NotificationFacts) -> Void
        /// Of the first.
        var says = ""
        var testDescription: String { "\(codes.map(\.rawValue)) \(says)" }

        init(
            _ codes: NotificationWarning.Code..., says: String = "",
            change: @escaping @Sendable (inout NotificationFacts) -> Void
        ) {
            self.codes = codes
            self.change = change
            self.says = says
        }
    }

    static let cases = [
        Case { _ in },
        Case(.noAlert, says: "nothing is shown") { $0.hasAlert = false },
        // Without an alert no service extension would run anyhow.
        Case(.noAlert) {
            $0.hasAlert = false
            $0.isMutable = false
        },
        Case(.notMutable, says: "'mutable-content': 1") { $0.isMutable = false },
        Case {
            $0.isMutable = false
            $0.media = []
        },
        Case(.noMediaFound, says: "'/photo' is a URL") {
            $0.media = []
            $0.urlPlaces = ["/photo", "/link"]
        },
        Case(.notMutable, says: "'mutableContent': true") {
            $0.format = .expo
            $0.isMutable = false
        },
        Case(.noAlert, says: "no text and no template") {
            $0.format = .onesignal
            $0.hasAlert = false
        },
        Case(.notShown, says: "Android shows less.") {
            $0.media[0].unfit = .init(code: "image_too_large", message: "Android shows less.")
        },
        Case(.unknownCategory, says: "no category 'red'") { $0.category = nil },
        Case {
            $0.category = nil
            $0.categoryID = nil
        },
        Case(.bannerHidesActions, says: "only 2 of 3 actions. When the notification is opened, it also shows 'C'") {
            $0.category?.actions.append(CategoryAction(id: "c", title: "C"))
        },
        Case(.ratioDiffers, says: "0.75 times its width, but the category reserves 0.6") {
            $0.media[0].size = PixelSize(width: 800, height: 600)
        },
        Case(.ratioDiffers, says: "0.05 times its width") { $0.media[0].size = PixelSize(width: 1000, height: 50) },
        // A tenth is a margin that nobody sees.
        Case { $0.media[0].size = PixelSize(width: 1000, height: 655) },
        Case(.ratioDiffers) { $0.media[0].size = PixelSize(width: 1000, height: 665) },
        Case(.ratioDiffers) { $0.media[0].size = PixelSize(width: 1000, height: 535) },
        Case {
            $0.category?.extension = nil
            $0.media[0].size = PixelSize(width: 1, height: 1000)
        },
        Case { $0.media[0].size = nil },
        // What is shown first is what the box is for.
        Case { $0.media.append(.init(identifier: "b", size: PixelSize(width: 1, height: 1), isPicture: true)) },
        Case(.mediaFailed, .mediaFailed, says: "'clip' is missing (fetch_failed): Gone.") {
            let failure = NotificationFacts.Medium.Failure(code: "fetch_failed", message: "Gone.")
            $0.media += [.init(identifier: "clip", failure: failure), .init(identifier: "song", failure: failure)]
        },
        Case(.linksEndEarly, says: "links expire at 1970-01-01T00:00:00.000Z") {
            $0.linksEnd = Instant(milliseconds: 0)
        },
        Case { $0.linksEnd = nil },
        Case { $0.pushEnds = nil },
        Case { $0.media[0].size = PixelSize(width: 3162, height: 1897) },
        Case(.memory, says: "'photo' needs 24 MB when decoded") {
            $0.media[0].size = PixelSize(width: 3163, height: 1898)
        },
        // A video is decoded as it plays.
        Case {
            $0.media[0].size = PixelSize(width: 10_000, height: 6_000)
            $0.media[0].isPicture = false
        },
        Case(.payloadCut, says: "4096 bytes, so these parts were removed: preview_url of 'photo', satchel") {
            $0.dropped = ["preview_url of 'photo'", "satchel"]
        },
    ]

    @Test(arguments: cases)
    func `what a sender probably doesn't want is told by a code, with figures`(example: Case) {
        var facts = Self.sound
        example.change(&facts)
        #expect(facts.warnings.map(\.code) == example.codes)
        if let first = facts.warnings.first { #expect(first.detail.contains(example.says)) }
    }

    @Test func `every code is told of in some case`() {
        let told = Set(Self.cases.flatMap(\.codes))
        #expect(told == Set(NotificationWarning.Code.allCases))
    }

    @Test func `pixels beyond counting are no crash`() {
        let vast = NotificationFacts.Medium(
            identifier: "v", size: PixelSize(width: .max, height: .max), isPicture: true)
        #expect(vast.decodedBytes == .max)
    }
}
