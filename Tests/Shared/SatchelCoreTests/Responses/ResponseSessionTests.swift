import TestSupport
import Testing

@testable import SatchelCore

@Suite struct ResponseSessionTests {
    // MARK: What can be done

    static let category = Category(
        id: "message", options: [.customDismissAction],
        actions: [
            CategoryAction(id: "reply", title: "Reply", textInput: TextInput(buttonTitle: "Send")),
            CategoryAction(id: "mute", title: "Mute", options: [.destructive]),
        ])

    static func response(_ action: String, text: String? = nil) -> NotificationResponse {
        NotificationResponse(id: "r", session: "s", action: ResponseAction(action), text: text)
    }

    struct Case: CustomTestStringConvertible {
        var action: String
        var text: String?
        var refusal: ResponseRefusal?
        var isForHandler = false
        var testDescription: String { "\(action) \(text ?? "")" }
    }

    static let cases = [
        Case(action: "reply", text: "On my way", isForHandler: true),
        Case(action: "reply", isForHandler: true),
        Case(action: "mute", isForHandler: true),
        Case(action: "default"),
        Case(action: "dismiss"),
        Case(action: "com.apple.UNNotificationDefaultActionIdentifier"),
        Case(action: "com.apple.UNNotificationDismissActionIdentifier"),
        Case(action: "mute", text: "why?", refusal: .textNotTaken(action: "mute"), isForHandler: true),
        Case(action: "default", text: "why?", refusal: .textNotTaken(action: "default")),
        Case(
            action: "Reply",
            refusal: .unknownAction("Reply", current: ["reply", "mute", "default", "dismiss"]), isForHandler: true),
    ]

    @Test(arguments: cases)
    func `a response is the handler's, the app's, or refused with what there is`(example: Case) {
        var session = ResponseSession(of: Self.category)
        let response = Self.response(example.action, text: example.text)
        do throws(ResponseRefusal) {
            try session.take(response, of: Self.category)
            #expect(example.refusal == nil && session.count == 1)
        } catch {
            #expect(error == example.refusal && session.count == 0)
        }
        #expect(response.action.isForHandler == example.isForHandler)
    }

    @Test(arguments: [Category(id: "plain", actions: category.actions), nil])
    func `a dismissal is taken only where the category asks for it`(category: Category?) {
        var session = ResponseSession(of: category)
        #expect(throws: ResponseRefusal.unknownAction("dismiss", current: session.actions.map(\.id) + ["default"])) {
            try session.take(Self.response("dismiss"), of: category)
        }
        #expect(session == ResponseSession(of: category))
        #expect(throws: Never.self) { try session.take(Self.response("default"), of: category) }
    }

    // MARK: What comes of it

    @Test func `without a handler's word a response is forwarded and nothing changes`() throws {
        var session = ResponseSession(of: Self.category)
        let response = Self.response("mute")
        try session.take(response, of: Self.category)
        #expect(
            session.settle(response, by: nil)
                == ResponseAnswer(
                    id: "r", then: .forward, actions: Self.category.actions, view: NotificationView(),
                    decidedBy: .default))
    }

    @Test func `actions that a handler names take the place of the others, none leave them`() throws {
        var session = ResponseSession(of: Self.category)
        let undo = CategoryAction(id: "undo", title: "Undo")
        let first = session.settle(Self.response("mute"), by: HandlerAnswer(then: .stay, actions: [undo]))
        #expect(first.actions == [undo] && first.then == .stay && first.decidedBy == .handler)
        #expect(throws: Never.self) { try session.take(Self.response("undo"), of: Self.category) }
        #expect(throws: ResponseRefusal.self) { try session.take(Self.response("mute"), of: Self.category) }
        let second = session.settle(Self.response("undo"), by: HandlerAnswer(then: .dismiss))
        #expect(second.actions == [undo] && second.then == .dismiss)
        #expect(session.settle(Self.response("undo"), by: HandlerAnswer(then: .stay, actions: [])).actions == [])
    }

    @Test func `of a view what was named last counts, whatever came between`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var session = ResponseSession(of: nil)
            var named = NotificationView.Change()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                func sometimes<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
                let change = NotificationView.Change(
                    rotation: sometimes(Double(Int.random(in: -720...720, using: &random))),
                    opacity: sometimes(Double.random(in: 0...1, using: &random)),
                    attachment: sometimes("photo"), title: sometimes("title \(random.next())"),
                    subtitle: sometimes("subtitle \(random.next())"), body: sometimes("body \(random.next())"),
                    label: sometimes(
                        ViewLabel(text: "\(random.next())", color: ViewColor.allCases.randomElement(using: &random))))
                named = NotificationView.Change(
                    rotation: change.rotation ?? named.rotation, opacity: change.opacity ?? named.opacity,
                    attachment: change.attachment ?? named.attachment, title: change.title ?? named.title,
                    subtitle: change.subtitle ?? named.subtitle, body: change.body ?? named.body,
                    label: change.label ?? named.label)
                _ = session.settle(Self.response("x"), by: HandlerAnswer(then: .stay, view: change))
            }
            #expect(session.view.rotation == named.rotation ?? 0 && session.view.opacity == named.opacity ?? 1)
            #expect(session.view.attachment == named.attachment && session.view.label == named.label)
            #expect(
                [session.view.title, session.view.subtitle, session.view.body]
                    == [named.title, named.subtitle, named.body])
        }
    }

    @Test func `whatever comes, only what is offered is taken, and a refusal changes nothing`() throws {
        var random = SeededGenerator(seed: 6)
        let names = ["a", "b", "c", "default", "dismiss"]
        for _ in 0..<200 {
            let category = Category(
                id: "any", options: Bool.random(using: &random) ? [.customDismissAction] : [],
                actions: names.prefix(2).map { CategoryAction(id: $0, title: $0) })
            var session = ResponseSession(of: category)
            for _ in 0..<12 {
                let before = session
                let name = try #require(names.randomElement(using: &random))
                let isOffered =
                    name == "default" || name == "dismiss" && !category.options.isEmpty
                    || before.actions.contains { $0.id == name }
                do throws(ResponseRefusal) {
                    try session.take(Self.response(name), of: category)
                    #expect(isOffered && session.count == before.count + 1)
                } catch {
                    #expect(!isOffered && session == before)
                    continue
                }
                let actions = names.prefix(3).filter { _ in Bool.random(using: &random) }
                _ = session.settle(
                    Self.response(name),
                    by: HandlerAnswer(then: .stay, actions: actions.map { CategoryAction(id: $0, title: $0) }))
            }
        }
    }

    @Test func `a session that is kept goes on where it was`() throws {
        var session = ResponseSession(of: Self.category)
        try session.take(Self.response("reply"), of: Self.category)
        _ = session.settle(
            Self.response("reply"),
            by: HandlerAnswer(
                then: .stay, view: .init(rotation: 20, label: ViewLabel(text: "Going!", color: .green))))
        let text = try JSON.text(session)
        #expect(try JSON.decode(ResponseSession.self, from: JSON.encode(session)) == session)
        #expect(text.contains(#""label":{"color":"green","text":"Going!"}"#) && text.contains(#""title":null"#))
    }
}
