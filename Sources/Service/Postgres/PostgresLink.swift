internal import CPostgres
internal import Glibc

/// Owns a connection of libpq, or none, of which libpq says that it is bad. Nothing here waits but ``wait(reading:writing:_:unless:)``,
/// and for names, which libpq looks up as it begins. One thread at a time uses it.
@safe
struct PostgresLink: ~Copyable, Sendable {
    private nonisolated(unsafe) let handle: OpaquePointer?

    /// No connection.
    init() {
        unsafe handle = nil
    }

    /// Begins to connect.
    init(_ options: [String: String]) {
        var keys = unsafe [UnsafePointer<CChar>?]()
        var values = unsafe [UnsafePointer<CChar>?]()
        for (key, value) in options {
            unsafe keys.append(UnsafePointer(strdup(key)))
            unsafe values.append(UnsafePointer(strdup(value)))
        }
        unsafe keys.append(nil)
        unsafe values.append(nil)
        defer { unsafe (keys + values).forEach { unsafe free(UnsafeMutableRawPointer(mutating: $0)) } }
        unsafe handle = PQconnectStartParams(keys, values, 0)
        guard unsafe handle != nil else { return }
        // The one way to learn the code of a refused connection.
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        unsafe PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit {
        unsafe PQfinish(handle)
    }

    var isBad: Bool { unsafe PQstatus(handle) == CONNECTION_BAD }
    var message: String { unsafe String(cString: PQerrorMessage(handle)) }
    var socket: Int32 { unsafe PQsocket(handle) }
    var version: Int { unsafe Int(PQserverVersion(handle)) }
    var isInTransaction: Bool {
        let status = unsafe PQtransactionStatus(handle)
        return status != PQTRANS_IDLE && status != PQTRANS_UNKNOWN
    }
    /// Whether an answer isn't whole yet.
    var isBusy: Bool { unsafe PQisBusy(handle) == 1 }

    /// Waits until the socket can be read or written, as far as that is asked for.
    ///
    /// - Parameter stop: A descriptor; all waiting stops while it can be read.
    /// - Returns: False at the deadline, unless the answer has come while this process slept, and for `stop`.
    func wait(
        reading: Bool, writing: Bool, _ deadline: ContinuousClock.Instant?, unless stop: Int32? = nil
    ) -> Bool {
        let wanted = Int16((reading ? POLLIN : 0) | (writing ? POLLOUT : 0))
        while true {
            let left = deadline.map { ContinuousClock.now.duration(to: $0) / .milliseconds(1) }
            var watched = [
                pollfd(fd: socket, events: wanted, revents: 0),
                pollfd(fd: stop ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe Glibc.poll(&watched, 2, left.map { Int32(min(max($0, 0).rounded(.up), 1e9)) } ?? -1)
            if watched[1].revents != 0 { return false }
            if count > 0 { return true }
            if count == 0, left != nil { return false }
            if count < 0, errno != EINTR { return false }
        }
    }

    /// Whether something came, if only the connection's end.
    var isReadable: Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&watched, 1, 0) > 0
    }

    func poll() -> PostgresPollingStatusType { unsafe PQconnectPoll(handle) }

    /// From here on statements are sent without waiting for the answers of those before.
    func enterPipeline() -> Bool {
        unsafe PQsetnonblocking(handle, 1) == 0 && PQenterPipelineMode(handle) == 1
    }

    /// - Returns: Whether something is left to send; nil where the connection is lost.
    func flush() -> Bool? {
        switch unsafe PQflush(handle) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// - Returns: False where the connection is lost.
    func consume() -> Bool { unsafe PQconsumeInput(handle) == 1 }

    func next() -> PostgresAnswer? {
        unsafe PQgetResult(handle).map { unsafe PostgresAnswer(owning: $0) }
    }

    func sync() -> Bool { unsafe PQpipelineSync(handle) == 1 }

    func prepare(_ sql: String, as name: String) -> Bool { unsafe PQsendPrepare(handle, name, sql, 0, nil) == 1 }

    /// - Parameter name: Of a prepared statement; nil for one that is sent whole.
    func send(
        _ statement: Statement, as name: String?, _ values: [(bytes: [UInt8], isBinary: Bool)?]
    ) -> Bool {
        // All values in one piece, each with the NUL that texts end with.
        var bytes: [UInt8] = []
        var offsets: [Int?] = []
        for value in values {
            offsets.append(value == nil ? nil : bytes.count)
            bytes += value?.bytes ?? []
            bytes.append(0)
        }
        let lengths = values.map { Int32($0?.bytes.count ?? 0) }
        let formats = values.map { Int32($0?.isBinary ?? false ? 1 : 0) }
        let count = Int32(values.count)
        return unsafe bytes.withUnsafeBytes { piece in
            let pointers = unsafe offsets.map { offset in
                unsafe offset.flatMap { unsafe piece.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
            }
            if let name {
                return unsafe PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 0) == 1
            }
            return unsafe PQsendQueryParams(handle, statement.sql, count, nil, pointers, lengths, formats, 0) == 1
        }
    }

    /// The channel of a notification that came.
    func notification() -> String? {
        guard let found = unsafe PQnotifies(handle) else { return nil }
        defer { unsafe PQfreemem(found) }
        return unsafe String(cString: found.pointee.relname)
    }
}
