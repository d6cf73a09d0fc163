internal import CPostgres
internal import Dispatch
internal import Glibc

/// Owns a connection of libpq, or none, of which libpq says that it is bad. Nothing here waits, but for names, which libpq
/// looks up as it begins.
@safe
struct PostgresLink: ~Copyable {
    private let handle: OpaquePointer?

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
    var processID: Int32 { unsafe PQbackendPID(handle) }
    var isInTransaction: Bool {
        let status = unsafe PQtransactionStatus(handle)
        return status != PQTRANS_IDLE && status != PQTRANS_UNKNOWN
    }
    /// Whether an answer isn't whole yet.
    var isBusy: Bool { unsafe PQisBusy(handle) == 1 }

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
        _ statement: PostgresStatement, as name: String?, _ values: [(bytes: [UInt8], isBinary: Bool)?]
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

/// Watches a socket, on a queue.
///
/// It has a descriptor of its own: libpq closes its own when a connection breaks, and what is opened next may get that
/// number while it is still being watched, and would never be heard of. A source that is released while it is suspended
/// traps, so it is resumed and cancelled first.
final class SocketWatch {
    private let socket: Int32
    private let reader: any DispatchSourceRead
    private let writer: any DispatchSourceWrite
    private let isLetGo = DispatchGroup()
    private var isWriting = false

    /// - Returns: Nil where there are no more descriptors.
    init?(_ socket: Int32, on queue: DispatchQueue, read: @escaping () -> Void, write: @escaping () -> Void) {
        let own = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        self.socket = own
        reader = DispatchSource.makeReadSource(fileDescriptor: own, queue: queue)
        writer = DispatchSource.makeWriteSource(fileDescriptor: own, queue: queue)
        isLetGo.enter()
        isLetGo.enter()
        reader.setEventHandler(handler: read)
        writer.setEventHandler(handler: write)
        let isLetGo = isLetGo
        reader.setCancelHandler { isLetGo.leave() }
        writer.setCancelHandler { isLetGo.leave() }
        reader.resume()
        isLetGo.notify(queue: queue) { close(own) }
    }

    deinit {
        reader.cancel()
        writer.cancel()
        if !isWriting { writer.resume() }
    }

    /// Has the socket watched for room as well.
    var isWritingWatched: Bool {
        get { isWriting }
        set {
            guard newValue != isWriting else { return }
            isWriting = newValue
            if newValue { writer.resume() } else { writer.suspend() }
        }
    }
}
