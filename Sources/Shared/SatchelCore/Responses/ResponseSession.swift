/// One opened notification on one device: what can be done with it, and what it shows.
public struct ResponseSession: Hashable, Sendable, Codable {
    /// In the order in which they are shown.
    public private(set) var actions: [CategoryAction]
    public private(set) var view: NotificationView
    /// Responses that were taken.
    public private(set) var count: Int

    /// As a notification is opened.
    ///
    /// - Parameter category: Nil where the payload names none that is known: then there are no actions but the system's.
    public init(of category: Category?) {
        actions = category?.actions ?? []
        view = NotificationView()
        count = 0
    }

    /// Takes a response, where it is one of what can be done now.
    ///
    /// - Throws: Why not; then nothing has changed.
    public mutating func take(
        _ response: NotificationResponse, of category: Category?
    ) throws(ResponseRefusal) {
        let takesDismissal = category?.options.contains(.customDismissAction) ?? false
        let systems: [ResponseAction] = takesDismissal ? [.open, .dismiss] : [.open]
        let action = actions.first { response.action == .offered(id: $0.id) }
        guard action != nil || systems.contains(response.action) else {
            throw .unknownAction(response.action.name, current: actions.map(\.id) + systems.map(\.name))
        }
        guard response.text == nil || action?.textInput != nil else {
            throw .textNotTaken(action: response.action.name)
        }
        count += 1
    }

    /// Applies what the handler says to a response that was taken.
    ///
    /// - Parameter answer: Nil where nobody was asked, or nobody answered: then it is forwarded.
    public mutating func settle(_ response: NotificationResponse, by answer: HandlerAnswer?) -> ResponseAnswer {
        if let answer {
            actions = answer.actions ?? actions
            view.apply(answer.view)
        }
        return ResponseAnswer(
            id: response.id, then: answer?.then ?? .forward, actions: actions, view: view,
            decidedBy: answer == nil ? .default : .handler)
    }
}
