import Foundation
import TestSupport
import Testing

@testable import satchel

/// The pages show commands that work, with the output that they have. `make docs` writes the outputs.
@Suite struct PageTests {
    /// The number of blocks that a page marks as `not-run`. They need apt, systemd, containers, a terminal or several
    /// machines.
    private static let unrun = [
        "README.md": 2, "docs/command-line.md": 2, "docs/contributing/testing.md": 2, "docs/getting-started.md": 3,
        "docs/http-api.md": 1, "docs/notifications.md": 1, "docs/operate/backup.md": 4,
        "docs/operate/configuration.md": 2, "docs/operate/install.md": 6, "docs/operate/many-nodes.md": 3,
        "docs/operate/monitoring.md": 1,
        "docs/operate/upgrade.md": 2,
    ]

    /// The languages of code blocks. Others than these could hide commands that no test runs.
    private static let languages: Set = ["sh", "console", "text", "json", "yaml", "swift", "python"]

    @Test(.timeLimit(.minutes(3)), arguments: DocumentPage.paths)
    func `the commands of a page work as shown`(path: String) async throws {
        var page = try DocumentPage(path)
        let blocks = page.blocks
        let strange = blocks.filter { !Self.languages.contains($0.language) }
        #expect(strange.isEmpty, "\(path):\(strange.first?.place.lowerBound ?? 0): name the block's language")
        let commands = blocks.filter { ["sh", "console"].contains($0.language) }
        let isRun = { (block: DocumentPage.Block) in !block.options.contains("not-run") }
        #expect(commands.count { !isRun($0) } == Self.unrun[path, default: 0], "\(path): blocks that are not run")

        let pieces = commands.filter(isRun).flatMap { block in
            PageRun.pieces(of: block, in: page).map { (piece: $0, isOrdered: !block.options.contains("unordered")) }
        }
        guard !pieces.isEmpty else { return }
        let outputs: [String]
        do {
            outputs = try await PageRun(page).run(pieces.map(\.piece))
        } catch let failure as PageRun.Failure {
            Issue.record("\(path): \(failure)")
            return
        }
        var isChanged = false
        for ((piece, isOrdered), output) in zip(pieces, outputs).reversed() {
            guard let place = piece.shown else { continue }
            var text = output.components(separatedBy: "\n").map { $0.replacing(/\s+$/, with: "") }
            if text.last == "" { text.removeLast() }
            let (shown, actual) = (page.lines[place].map(PageRun.masked), text.map(PageRun.masked))
            let isShown = isOrdered ? PageRun.shows(shown[...], actual[...]) : shown.sorted() == actual.sorted()
            guard !isShown else { continue }
            if DocumentPage.isWritten {
                page.lines.replaceSubrange(place, with: text)
                isChanged = true
            } else {
                Issue.record(
                    "\(path):\(piece.line + 1): the output differs. Run 'make docs'.\n\(text.joined(separator: "\n"))"
                )
            }
        }
        if isChanged { try page.save() }
    }

    @Test(arguments: DocumentPage.paths)
    func `the JSON and YAML of a page can be read`(path: String) throws {
        let page = try DocumentPage(path)
        let user = try CommandLineUser()
        for block in page.blocks {
            let (text, place) = (page.text(of: block), "\(path):\(block.place.lowerBound + 1)")
            switch block.language {
            case "json":
                #expect(throws: Never.self, "\(place)") { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
            case "yaml":
                // Profiles or settings. The files that settings name must exist.
                for name in ["fullchain", "privkey"] { try user.file("tls/\(name).pem", Data()) }
                let local = text.replacing("/etc/satchel/", with: user.home.path + "/")
                try user.file("block.yaml", Data(local.utf8))
                let result = try user.run(text.hasPrefix("profiles:\n ") ? "profile" : "config", "check", "block.yaml")
                #expect(result.status == 0, "\(place): \(result.errorText)")
            default: break
            }
        }
    }
}
