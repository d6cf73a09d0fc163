/// What becomes of a notification after a response: UNNotificationContentExtensionResponseOption.
public enum ResponseOption: String, Hashable, Sendable, Codable, CaseIterable {
    /// It stays open: `doNotDismiss`.
    case stay
    /// It closes, and the app hears nothing: `dismiss`.
    case dismiss
    /// It closes, and the app gets the response: `dismissAndForwardAction`.
    case forward
}

/// What a handler says to a response.
public struct HandlerAnswer: Hashable, Sendable {
    public var then: ResponseOption
    /// What can be done from now on; nil: as before.
    public var actions: [CategoryAction]?
    public var view: NotificationView.Change

    public init(
        then: ResponseOption, actions: [CategoryAction]? = nil,
        view: NotificationView.Change = NotificationView.Change()
    ) {
        self.then = then
        self.actions = actions
        self.view = view
    }
}

/// Who decided what becomes of a notification.
public enum ResponseDecider: String, Hashable, Sendable, Codable, CaseIterable {
    case handler
    /// Nobody was asked, or nobody answered: it is forwarded.
    case `default`
}

/// What whoever responded is told.
public struct ResponseAnswer: Hashable, Sendable, Codable {
    /// The response's.
    public var id: String
    public var then: ResponseOption
    /// What can be done from now on.
    public var actions: [CategoryAction]
    /// As it is from now on.
    public var view: NotificationView
    public var decidedBy: ResponseDecider
}
