public import SatchelCore

extension Category {
    /// One with everything that a category can have.
    public static func sample(_ id: String = "red-category") -> Category {
        Category(
            id: id, options: CategoryOption.allCases, intents: ["INSendMessageIntent"], hiddenBody: "Invitation",
            summaryFormat: "%u more from %@", profile: "notification",
            actions: [
                CategoryAction(id: "rotate", title: "Rotate 20°", icon: .system("arrow.clockwise")),
                CategoryAction(
                    id: "reply", title: "Reply", icon: .template("Pen"), options: ActionOption.allCases,
                    textInput: TextInput(buttonTitle: "Send", placeholder: "Message")),
            ],
            extension: ContentExtension(
                initialContentSizeRatio: 0.6, defaultContentHidden: true, userInteraction: true,
                controls: [
                    .button(title: "Launch App", does: .open),
                    .slider(title: "Opacity", sets: .opacity, minimum: 0, maximum: 1, value: 0.5),
                ]),
            responses: ResponseSettings(
                handler: ResponseHandler(url: "https://api.example.com/respond", timeout: 2),
                forward: ResponseForward(url: "https://api.example.com/hooks/app"), recordText: false))
    }

    /// Those whose texts try to get out of wherever they are put.
    public static var hostile: [Category] {
        let texts = [
            #"\"# + "\"); fatalError(\"out\") //", #"\(fatalError("interpolated"))"#, "\"\"\"\n#\"",
            "*/ } } import Evil",
            "\u{202E}desrever\u{2066} \u{2028}\u{2029}\u{85}\u{FEFF}\u{0}\u{1B}[31m",
            "]]>--></string><!DOCTYPE x &lt;&amp;'",
            "\u{301}\u{1F468}\u{200D}\u{1F469}\u{1F3FD} e\u{301}\r\n\t", "#if false", "\\", "\"",
        ]
        return texts.enumerated().map { number, text in
            Category(
                id: text, intents: [text], hiddenBody: number % 2 == 0 ? text : nil,
                summaryFormat: number % 3 == 0 ? text : nil,
                actions: [
                    CategoryAction(id: text, title: text, icon: .system(text)),
                    CategoryAction(
                        id: "\(number)", title: text, icon: .template(text),
                        textInput: TextInput(buttonTitle: text, placeholder: text)),
                ],
                extension: ContentExtension(initialContentSizeRatio: number < 5 ? 0.6 : 1.5))
        }
    }
}
