import Foundation
import TestSupport
import Testing

@testable import SatchelCore

/// The table of formats is whole, and its words stand for one format each.
@Suite struct FileFormatTests {
    @Test func `every type has its own format, and no two share a name`() {
        var holders: [String: Set<MediaType>] = [:]
        for type in MediaType.allCases {
            #expect(type.format.type == type)
            let format = type.format
            for name in [type.rawValue, format.fileExtension, format.uti] + format.otherNames {
                #expect(name == name.lowercased() && !name.isEmpty, "\(name)")
                holders[name, default: []].insert(type)
            }
        }
        for (name, types) in holders { #expect(types.count == 1, "\(name): \(types)") }
        #expect(Set(FileFormat.all.map(\.name)).count == MediaType.allCases.count)
    }

    @Test(arguments: FileFormat.all)
    func `every name of a format declares it, whatever stands behind or how it is written`(format: FileFormat) {
        for name in [format.type.rawValue, format.fileExtension, format.uti] + format.otherNames {
            #expect(MediaType(declared: name) == format.type)
            #expect(MediaType(declared: "\(name.uppercased()) ; charset=x") == format.type)
        }
    }

    @Test(arguments: ["", "/", "image/", "image/svg+xml", "pdf", "application/octet-stream", "jpg2"])
    func `what no format is called declares none`(name: String) {
        #expect(MediaType(declared: name) == nil)
    }

    /// Where the sentence in the README has other words than records.
    private static let words = ["JXL": "JPEG XL", "MPEG-TS": "MPEG-PS and TS"]

    @Test(arguments: FileFormat.all)
    func `every format is named where the README says what goes in`(format: FileFormat) throws {
        let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        let start = try #require(readme.range(of: "\nIn: "))
        let end = try #require(readme.range(of: "\n\n", range: start.upperBound..<readme.endIndex))
        let listed = readme[start.upperBound..<end.lowerBound].replacing("\n", with: " ")
        let word = Self.words[format.name] ?? format.name
        #expect(listed.split { ",;. ".contains($0) }.joined(separator: " ").contains(word), "\(word): \(listed)")
    }
}
