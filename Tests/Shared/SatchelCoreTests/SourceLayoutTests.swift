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

    /// What is of our own in the place of libvips' scaling, each in a folder.
    @Test(arguments: ["StillCodecs/Image/PlanarJPEG", "GIF"])
    func `an own way says what it replaces, what it saves, how far it may differ, and which tests hold it to that`(
        folder: String
    ) throws {
        let files = try Self.files().filter { $0.path(percentEncoded: false).contains("/Sources/Codec/\(folder)/") }
        let heads = try files.compactMap { file -> String? in
            let text = try String(contentsOf: file, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let head = lines.prefix { $0.hasPrefix("// ") || $0 == "//" }.map { $0.dropFirst(3) }.joined(separator: " ")
            return head.hasPrefix("This folder takes the place of libvips ") ? head : nil
        }
        try #require(heads.count == 1, "\(folder)")
        // What it saves beside `best`, at each speed; how far it may differ.
        for words in ["`best`", "`standard`", "`fast`", " ms ", " dB "] {
            #expect(heads[0].contains(words), "\(words)")
        }
        let named = heads[0].matches(of: /`([A-Z]\w*Tests)`/).map { String($0.output.1) }
        let tests = Repository.root.appending(path: "Tests").path(percentEncoded: false)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: tests)
        #expect(!named.isEmpty)
        for name in named { #expect(paths.contains { $0.hasSuffix("/\(name).swift") }, "\(name)") }
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
