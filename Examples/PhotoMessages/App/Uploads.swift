import Foundation
import Observation
import SatchelClient

/// Files that are being uploaded. The list is saved with the files, so that uploads continue after the app was ended.
@MainActor @Observable final class Uploads {
    struct Item: Codable, Identifiable {
        let id: UUID
        /// The name of the file, for people.
        let name: String
        /// The upload's URL, once the back end has returned it.
        var url: URL?
        /// The part that the service has stored, from 0 to 1.
        var progress = 0.0
        var problem: String?
    }

    private(set) var items: [Item] = []
    private let backEnd: BackEnd
    private let directory = URL.applicationSupportDirectory.appending(path: "uploads")

    init(_ backEnd: BackEnd) {
        self.backEnd = backEnd
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        if let data = try? Data(contentsOf: list) {
            items = (try? JSONDecoder().decode([Item].self, from: data)) ?? []
        }
    }

    /// Moves a file into the list and starts its upload.
    func add(_ file: URL) throws {
        let item = Item(id: UUID(), name: file.lastPathComponent)
        try FileManager.default.moveItem(at: file, to: place(of: item.id))
        items.append(item)
        save()
        start(item.id)
    }

    /// Continues all unfinished uploads.
    func resume() {
        for item in items { start(item.id) }
    }

    private func start(_ id: UUID) {
        Task {
            change(id) { $0.problem = nil }
            do {
                try await send(id)
                try? FileManager.default.removeItem(at: place(of: id))
                items.removeAll { $0.id == id }
                save()
            } catch {
                change(id) { item in
                    item.problem = error.localizedDescription
                    // The upload expired or was cancelled. The next attempt requests a new URL.
                    if (error as? SatchelError)?.code == .notFound { item.url = nil }
                }
            }
        }
    }

    private func send(_ id: UUID) async throws {
        guard let item = items.first(where: { $0.id == id }) else { return }
        let file = place(of: id)
        let url: URL
        if let known = item.url {
            url = known
        } else {
            let length = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            url = try await backEnd.uploadURL(for: item.name, length: length)
            // Saves the URL before sending, because it is needed to resume.
            change(id) { $0.url = url }
        }
        try await SatchelClient.upload(file, to: url) { sent, all in
            Task { @MainActor in self.change(id) { $0.progress = Double(sent) / Double(max(all, 1)) } }
        }
    }

    private func change(_ id: UUID, _ body: (inout Item) -> Void) {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return }
        body(&items[index])
        save()
    }

    // MARK: Storage

    private var list: URL { directory.appending(path: "list.json") }

    private func place(of id: UUID) -> URL { directory.appending(path: id.uuidString) }

    private func save() {
        try? JSONEncoder().encode(items).write(to: list, options: .atomic)
    }
}
