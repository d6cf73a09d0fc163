import Testing

@testable import API
@testable import satchel

/// The tables of the pages come from the tables of the code. `make docs` writes them.
@Suite struct ReferenceTableTests {
    @Test(arguments: ReferenceTable.all)
    func `the table of a page is that of the code`(table: ReferenceTable) throws {
        var page = try DocumentPage(table.page)
        let place = try #require(page.place(ofTable: table.name), "\(table.page) has no place for '\(table.name)'")
        let lines = try table.lines()
        try #require(lines.count > 3)
        if DocumentPage.isWritten {
            page.lines.replaceSubrange(place, with: lines)
            try page.save()
        } else if Array(page.lines[place]) != lines {
            let current = Array(page.lines[place])
            let number = zip(current, lines).prefix { $0 == $1 }.count
            Issue.record(
                """
                The table '\(table.name)' of \(table.page) is out of date. Run 'make docs'. First difference:
                - \(number < current.count ? current[number] : "")
                + \(number < lines.count ? lines[number] : "")
                """)
        }
    }

    @Test func `variables and settings that /docs names exist`() {
        let page = DocumentationPage.current
        let variables = Set(page.matches(of: /SATCHEL_[A-Z_]+/).map { String($0.output) })
        // The programs of the guides read the other two.
        #expect(variables.subtracting(Setting.all.map(\.variable)) == ["SATCHEL_URL", "SATCHEL_KEY"])
        #expect(variables.count > 2)
        let groups = Set(Setting.all.compactMap { $0.key.contains(".") ? $0.key.prefix { $0 != "." } : nil })
        let named = page.matches(of: #/<code>([a-z_]+)\.([a-z_.]+)<\/code>/#).filter { groups.contains($0.output.1) }
        for name in named.map({ "\($0.output.1).\($0.output.2)" }) {
            #expect(Setting.all.contains { $0.key == name }, "\(name)")
        }
    }

    @Test func `each place in a page is that of a table`() throws {
        let places = try DocumentPage.paths.flatMap { path in try DocumentPage(path).tables.map { "\(path) \($0)" } }
        #expect(places.sorted() == ReferenceTable.all.map { "\($0.page) \($0.name)" }.sorted())
    }
}
