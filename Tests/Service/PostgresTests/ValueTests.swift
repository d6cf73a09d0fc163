import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ValueTests {
    @Test func `values of every type come back as they went`() async throws {
        let database = try Database()
        let bytes = (0..<256).map { UInt8($0) }
        let rows = try await database.pool.rows(
            """
            SELECT $1::bigint AS a, $2::text AS b, $3::bytea AS c, $4::boolean AS d, $5::float8 AS e, $6::text AS f,
                $7::uuid AS g
            """,
            [
                .int(Int64.min), .text("it's \"ä\" \\ 🦉\n"), .bytes(bytes), true, .double(0.1), nil,
                .uuid("0198F3E2-0000-7000-8000-00000000000a"),
            ])
        let row = try #require(rows.first)
        #expect(try row.int64("a") == .min)
        #expect(try row.text("b") == "it's \"ä\" \\ 🦉\n")
        #expect(try row.optionalBytes("c") == bytes)
        #expect(try row.bool("d"))
        #expect(try row.optionalDouble("e") == 0.1)
        #expect(try row.optionalText("f") == nil)
        #expect(try row.text("g") == "0198f3e2-0000-7000-8000-00000000000a")
    }

    @Test func `what isn't a UUID matches nothing`() async throws {
        let database = try Database()
        for text in ["", "x", "0198f3e2-0000-7000-8000-00000000000", "0198f3e2-0000-7000-8000-00000000000g"] {
            let rows = try await database.pool.rows("SELECT 1 AS a WHERE $1::uuid IS NOT NULL", [.uuid(text)])
            #expect(rows.isEmpty)
        }
    }

    @Test func `arrays of whatever texts are sets of rows`() async throws {
        let database = try Database()
        var generator = SeededGenerator(seed: 3)
        let alphabet = Array("ab\"\\{}, \n'NUL🦉ä")
        let texts = (0..<500).map { index -> String? in
            guard index % 50 != 0 else { return nil }
            let length = Int.random(in: 0...8, using: &generator)
            return String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "x" })
        }
        let rows = try await database.pool.rows(
            "SELECT t, n FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS u(t, n, o) ORDER BY o",
            [.texts(texts), .ints(texts.indices.map { Int64($0) })])
        #expect(try rows.map { row in try row.optionalText("t") } == texts)
        #expect(try rows.map { row in try row.int("n") } == Array(texts.indices))
    }

    @Test func `a NUL is refused before it is sent, and the connection stays good`() async throws {
        let database = try Database(Database.numbers, writers: 1)
        for value in [SQLValue.text("a\0b"), .texts(["a", "\0"])] {
            await #expect(throws: PostgresError.nul) {
                try await database.pool.batch([
                    Statement("INSERT INTO numbers VALUES (1, 'x')"), Statement("SELECT $1", [value]),
                ])
            }
        }
        #expect(try database.count() == 0)
        try await database.pool.insert(1)
        #expect(try database.count() == 1)
    }

    @Test func `values of many megabytes go through both ways`() async throws {
        let database = try Database()
        let bytes = [UInt8](repeating: 7, count: 20 << 20)
        let text = String(repeating: "ä", count: 8 << 20)
        let rows = try await database.pool.batch([
            Statement("SELECT $1::bytea AS b, $2::text AS t", [.bytes(bytes), .text(text)]),
            Statement("SELECT length($1::bytea) AS n", [.bytes(bytes)]),
        ])
        #expect(try rows[0].first?.optionalBytes("b") == bytes)
        #expect(try rows[0].first?.text("t") == text)
        #expect(try rows[1].first?.int("n") == bytes.count)
    }

    @Test func `ten thousand rows go in by one statement and come out by one`() async throws {
        let database = try Database(Database.numbers)
        let numbers = (0..<10_000).map { Int64($0) }
        let rows = try await database.pool.batch([
            Statement(
                "INSERT INTO numbers SELECT * FROM unnest($1::bigint[], $2::text[])",
                [.ints(numbers), .texts(numbers.map { "word \($0)" })]),
            Statement("SELECT n, word FROM numbers ORDER BY n"),
        ])
        #expect(rows[0].changes == 10_000)
        #expect(rows[1].count == 10_000)
        #expect(try rows[1].last?.text("word") == "word 9999")
    }

    @Test func `sets of rows come as JSON`() async throws {
        let database = try Database(Database.numbers)
        let json = #"[{"n": 1, "word": "a\"b"}, {"n": 2, "word": null}]"#
        _ = try await database.pool.batch([
            Statement(
                "INSERT INTO numbers SELECT n, word FROM jsonb_to_recordset($1) AS r(n bigint, word text)",
                [.text(json)])
        ])
        #expect(try database.count() == 2)
    }

    @Test func `a column that isn't there or doesn't fit is an error`() async throws {
        let database = try Database()
        let row = try #require(try await database.pool.rows("SELECT 'x' AS a, NULL::text AS b").first)
        #expect(throws: PostgresError.unexpectedColumn("c")) { try row.text("c") }
        #expect(throws: PostgresError.unexpectedColumn("a")) { try row.int64("a") }
        #expect(throws: PostgresError.unexpectedColumn("b")) { try row.text("b") }
    }
}
