import SatchelCore
import Foundation
import TestSupport
import Testing

/// What apps take of categories, read by those who read it there: Swift's compiler, and a parser of property lists.
@Suite(.timeLimit(.minutes(5))) struct CategoryExportTests {
    private static let all = [Category.sample(), Category(id: "plain")] + Category.hostile

    @Test func `the JSON is all that is known but who is told of responses`() throws {
        let text = try CategoryExport.json.text(Self.all)
        #expect(!text.contains("\"responses\"") && !text.contains("api.example.com"))
        let read = try JSON.decode(AppCategories.self, from: Data(text.utf8))
        #expect(read.categories == Self.all.map(AppCategory.init))
        // It is a category's description as well.
        for category in Self.all {
            var expected = category
            expected.responses = nil
            let alone = try JSON.encode(AppCategory(category))
            #expect(try JSON.decode(Category.self, from: alone) == expected)
        }
    }

    @Test func `whatever texts say, the Swift is one extension with one function`() throws {
        let directory = try TemporaryDirectory()
        var files: [String] = []
        for (number, categories) in [Self.all, []].enumerated() {
            let file = directory.url.appending(path: "\(number).swift")
            let text = try CategoryExport.swift.text(categories)
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isInvisible })
            try Data(text.utf8).write(to: file)
            files.append(file.path(percentEncoded: false))
        }
        let result = try Program.tool("swiftc").run(["-parse", "-swift-version", "6"] + files)
        #expect(result.status == 0 && result.errorText.isEmpty, "\(result.errorText)")
        // Nothing of it is code: literals are taken out, and what is left is the same for the same form.
        func code(_ category: Category) throws -> String {
            try CategoryExport.swift.text([category]).replacing(
                #/"(\\.|[^"\\])*"/#.matchingSemantics(.unicodeScalar), with: "text")
        }
        func form(_ category: Category) -> [Bool] {
            [category.hiddenBody == nil, category.summaryFormat == nil]
        }
        let forms = Dictionary(grouping: Category.hostile, by: form)
        #expect(forms.count == 4)
        for categories in forms.values { #expect(Set(try categories.map(code)).count == 1) }
    }

    @Test func `the Swift says everything, and asks for no newer system than that needs`() throws {
        #expect(
            try CategoryExport.swift.text([.sample(), Category(id: "plain", hiddenBody: "Hidden")]) == #"""
                // Notification categories, made by Satchel from their descriptions. Make it anew where those change.

                import UserNotifications

                extension UNUserNotificationCenter {
                    /// Registers the app's categories, in the place of those that were registered before. Call it at each launch.
                    func registerSatchelCategories() {
                        var categories: Set<UNNotificationCategory> = []
                        categories.insert(
                            UNNotificationCategory(
                                identifier: "red-category",
                                actions: [
                                    UNNotificationAction(
                                        identifier: "rotate",
                                        title: "Rotate 20°",
                                        options: [],
                                        icon: UNNotificationActionIcon(systemImageName: "arrow.clockwise")),
                                    UNTextInputNotificationAction(
                                        identifier: "reply",
                                        title: "Reply",
                                        options: [.foreground, .destructive, .authenticationRequired],
                                        icon: UNNotificationActionIcon(templateImageName: "Pen"),
                                        textInputButtonTitle: "Send",
                                        textInputPlaceholder: "Message"),
                                ],
                                intentIdentifiers: ["INSendMessageIntent"],
                                hiddenPreviewsBodyPlaceholder: "Invitation",
                                categorySummaryFormat: "%u more from %@",
                                options: [.customDismissAction, .hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle, .allowInCarPlay, .allowAnnouncement]))
                        categories.insert(
                            UNNotificationCategory(
                                identifier: "plain",
                                actions: [],
                                intentIdentifiers: [],
                                hiddenPreviewsBodyPlaceholder: "Hidden",
                                options: []))
                        setNotificationCategories(categories)
                    }
                }

                """#)
    }

    @Test func `the property list has a dictionary for each set of settings`() throws {
        let prefix = "UNNotificationExtension"
        func settings(_ ids: [String], _ ratio: Double, hidden: Bool = false, interaction: Bool = false) -> NSDictionary
        {
            [
                "NSExtension": [
                    "NSExtensionPointIdentifier": "com.apple.usernotifications.content-extension",
                    "NSExtensionAttributes": [
                        "\(prefix)Category": ids, "\(prefix)InitialContentSizeRatio": ratio,
                        "\(prefix)DefaultContentHidden": hidden, "\(prefix)OverridesDefaultTitle": false,
                        "\(prefix)UserInteractionEnabled": interaction,
                    ],
                ]
            ]
        }
        let hostile = Category.hostile
            .map { category in
                var category = category
                // XML has no words for these.
                category.id.unicodeScalars.removeAll { $0 == "\0" || $0 == "\u{1B}" || $0 == "\r" }
                return category
            }
        func ids(_ ratio: Double) -> [String] {
            hostile.filter { $0.extension?.initialContentSizeRatio == ratio }.map(\.id)
        }
        var alike = Category.sample("alike")
        alike.extension?.overridesDefaultTitle = false
        for (categories, expected) in [
            ([], [:] as NSDictionary),
            ([Category(id: "plain")], [:] as NSDictionary),
            (
                [.sample(), Category(id: "plain"), alike],
                settings(["red-category", "alike"], 0.6, hidden: true, interaction: true)
            ),
            (
                [.sample()] + hostile,
                [
                    settings(["red-category"], 0.6, hidden: true, interaction: true), settings(ids(0.6), 0.6),
                    settings(ids(1.5), 1.5),
                ]
                    as NSArray
            ),
        ] as [([Category], NSObject)] {
            let text = try CategoryExport.plist.text(categories)
            let result = try Python.run(
                "import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.argv[1].encode())))", [text])
            #expect(result.status == 0, "\(result.errorText)")
            let read = try #require(try JSONSerialization.jsonObject(with: result.output) as? NSObject)
            #expect(read == expected, "\(text)")
        }
    }
}
