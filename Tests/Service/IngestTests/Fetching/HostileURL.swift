import SatchelCore
import Foundation
import Ingest
import TestSupport
import Testing

/// A line of `HostileURLs.txt`.
struct HostileURL: Sendable, CustomTestStringConvertible {
    var url: String
    var verdict: ErrorCode
    /// What the name service answers; nil for the system's.
    var answers: [IPAddress]?

    var testDescription: String { url.debugDescription }

    static let file = Repository.root.appending(path: "Tests/Service/IngestTests/Fetching/HostileURLs.txt")

    static let all: [HostileURL] = {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let verdict: ErrorCode =
                switch columns[0] {
                case "blocked": .blockedAddress
                case "invalid": .invalidSource
                default: .fetchFailed
                }
            let answers = columns.count > 2 ? columns[2].split(separator: ",").compactMap { IPAddress($0) } : nil
            return HostileURL(url: unescaped(columns[1]), verdict: verdict, answers: answers)
        }
    }()

    private static func unescaped(_ text: String) -> String {
        text.replacing(/\\u\{([0-9a-f]+)\}/) { match in
            UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
        }
    }
}
