import Foundation

/// What 0.1.0 wrote of a profile: a line of `Tests/Support/profiles/0.1.0.jsonl`.
public struct FormerProfile: Decodable, Sendable {
    public var name: String
    /// Of ``sent``, which the keys of work are made of.
    public var digest: String
    /// As it goes to codec processes.
    public var sent: String
    /// As the records keep it.
    public var stored: String

    public static let all: [FormerProfile] = {
        let file = Repository.root.appending(path: "Tests/Support/profiles/0.1.0.jsonl")
        let lines = (try? Data(contentsOf: file))?.split(separator: UInt8(ascii: "\n")) ?? []
        return lines.compactMap { try? JSONDecoder().decode(FormerProfile.self, from: Data($0)) }
    }()
}
