import Foundation
import TestSupport
import Testing

/// What a contributor finds by a file's name.
@Suite struct SourceLayoutTests {
    /// The Swift files of all targets, without those that mirror the wire, whose names are the service's.
    private static func files() throws -> [URL] {
        let directory = Repository.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
        return files.compactMap { $0 as? URL }.filter {
            $0.pathExtension == "swift" && $0.lastPathComponent != "main.swift"
                && !$0.path(percentEncoded: false).contains("/SatchelClient/Values/")
        }
    }

    @Test func `no file name occurs twice under Sources`() throws {
        let names = try Self.files().map(\.lastPathComponent)
        #expect(names.count > 900)
        #expect(Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    /// Files that hold a family of small things, or a function.
    private static let families = [
        "Arguments", "CodecMessage+Validation", "FileCopy", "Identifiers", "Routes", "Services", "UserNotifications",
    ]

    @Test func `a file is named for a type that it declares or extends`() throws {
        for file in try Self.files() {
            let name = file.deletingPathExtension().lastPathComponent
            let type = String(name.prefix { $0 != "+" })
            guard !Self.families.contains(name) else { continue }
            let declaration = try Regex(
                "(struct|class|enum|actor|protocol|typealias|extension) ([A-Za-z]+\\.)?\(type)\\b")
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.contains(declaration), "\(file.path(percentEncoded: false)) has no \(type)")
        }
    }
}
