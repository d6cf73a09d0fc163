import SatchelCore
import Foundation
import Testing

/// An upload that a back end opened, for whoever has its path.
struct OpenedUpload {
    var id: String
    var path: String

    func record(_ live: LiveService) async throws -> Tree {
        try await live.send(.get, "/v1/uploads/\(id)", as: .submit).json
    }

    static let tus = ["Tus-Resumable": "1.0.0"]

    /// A PATCH by tus.
    func patch(
        _ live: LiveService, at offset: Int, _ text: String, _ headers: [String: String] = [:]
    ) async throws -> Reply {
        let own = ["Content-Type": "application/offset+octet-stream", "Upload-Offset": "\(offset)"]
        return try await live.send(
            .patch, path, Self.tus.merging(own) { $1 }.merging(headers) { $1 }, body: Data(text.utf8), key: nil)
    }

    /// A HEAD by tus.
    func head(_ live: LiveService) async throws -> Reply {
        try await live.send(.head, path, Self.tus, key: nil)
    }
}

extension OpenedUpload {
    /// - Parameter json: What it is opened with.
    init(_ live: LiveService, _ json: String = "{}") async throws {
        let opened = try await live.send(.post, "/v1/uploads", json: json, as: .submit)
        #expect(opened.status == 201, "\(opened.text)")
        id = try #require(try opened.json["id"].string)
        path = live.path(of: try #require(try opened.json["url"].string))
        #expect(path.hasPrefix("/u/satu_"))
    }
}
