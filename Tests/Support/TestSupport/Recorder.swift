import Synchronization

/// Keeps what it is told, in order.
public final class Recorder<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])

    public init() {}

    public var list: [Element] { state.withLock { $0 } }

    public func add(_ element: Element) {
        state.withLock { $0.append(element) }
    }
}
