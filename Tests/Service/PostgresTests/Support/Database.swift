import Postgres
import PostgresTestSupport
import Synchronization

/// A database of its own on the server of this process, and a pool of connections to it.
struct Database {
    let server: PostgresServer
    let name: String
    let pool: PostgresPool

    init(on server: PostgresServer? = nil, _ schema: String = "", writers: Int = 4, isPooled: Bool = false) throws {
        let server = try server ?? .shared()
        self.server = server
        name = try server.makeDatabase()
        if !schema.isEmpty { try server.execute(schema, in: name) }
        pool = PostgresPool(
            try PostgresParameters(server.url(name), application: "tests", isPooled: isPooled), writers: writers)
    }

    static let numbers = "CREATE TABLE numbers (n bigint PRIMARY KEY CHECK (n >= 0), word text)"

    func count(_ table: String = "numbers") throws -> Int {
        try server.execute("SELECT count(*) FROM \(table)", in: name).first?.first.flatMap { $0.flatMap { Int($0) } }
            ?? -1
    }
}

extension PostgresPool {
    func insert(_ number: Int, _ word: String = "") async throws(PostgresError) {
        _ = try await batch([Statement("INSERT INTO numbers VALUES ($1, $2)", [.int(number), .text(word)])])
    }
}

/// A value that several tasks change.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
        mutex = Mutex(value)
    }

    var value: Value { mutex.withLock(\.self) }

    func change(_ body: (inout Value) -> Void) {
        mutex.withLock { body(&$0) }
    }
}
