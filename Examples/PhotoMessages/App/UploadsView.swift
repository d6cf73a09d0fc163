import PhotosUI
import SwiftUI

struct UploadsView: View {
    let uploads: Uploads
    @State private var picked: [PhotosPickerItem] = []
    @State private var problem: String?

    var body: some View {
        VStack {
            // Sends the originals. The service prepares them for notifications.
            PhotosPicker(
                "Send photos and videos", selection: $picked, matching: .any(of: [.images, .videos]),
                preferredItemEncoding: .current)
            if let problem { Text(problem) }
            List(uploads.items) { item in
                ProgressView(value: item.progress) {
                    Text(item.problem ?? item.name)
                }
            }
            Button("Try again") { uploads.resume() }
                .disabled(!uploads.items.contains { $0.problem != nil })
        }
        .padding()
        .onChange(of: picked) { _, items in
            guard !items.isEmpty else { return }
            picked = []
            problem = nil
            Task { await send(items) }
        }
    }

    private func send(_ items: [PhotosPickerItem]) async {
        for item in items {
            do {
                guard let file = try await item.loadTransferable(type: PickedFile.self) else { continue }
                try uploads.add(file.url)
            } catch {
                problem = error.localizedDescription
            }
        }
    }
}
