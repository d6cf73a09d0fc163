import Foundation

/// The app's own back end. It has the API key, which must not be in an app.
struct BackEnd: Sendable {
    let address: String

    /// Returns a URL to which one file of `length` bytes can be uploaded.
    func uploadURL(for name: String, length: Int) async throws -> URL {
        struct Answer: Decodable {
            var url: URL
        }

        let answer = try await post(["name": name, "length": length], to: "uploads")
        return try JSONDecoder().decode(Answer.self, from: answer).url
    }

    func register(device token: Data) async throws {
        _ = try await post(["token": token.map { String(format: "%02x", $0) }.joined()], to: "devices")
    }

    private func post(_ object: [String: Any], to path: String) async throws -> Data {
        guard let url = URL(string: "\(address)/\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: object)
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse, (200..<300).contains(response.statusCode) else {
            throw URLError(.badServerResponse)
        }
        return data
    }
}
