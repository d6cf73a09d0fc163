import HummingbirdCore
package import NIOCore
import NIOHTTPTypes
import Synchronization

/// A connection on its way from the listening socket to whoever handles it.
///
/// One that comes while the server stops finds nobody. NIO ends the process where a channel is dropped that was never
/// executed; this one is closed instead.
package final class AcceptedConnection: ServerChildChannelValue {
    typealias Messages = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    private let messages: Messages
    private let isTaken = Atomic(false)

    init(_ messages: Messages) {
        self.messages = messages
    }

    package var channel: any Channel { messages.channel }

    /// What comes and goes on it; the caller executes it.
    func take() -> Messages {
        isTaken.store(true, ordering: .relaxed)
        return messages
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        Task { [messages] in try? await messages.executeThenClose { _, _ in } }
    }
}
