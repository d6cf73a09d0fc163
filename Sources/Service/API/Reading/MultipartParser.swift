import NIOCore

/// Takes a `multipart/form-data` body (RFC 7578) apart while it comes, keeping no more of it than a boundary or the
/// headers of a part.
struct MultipartParser {
    /// What was found, in the order of the body.
    enum Event: Equatable {
        case begin(MultipartHead)
        case bytes(ByteBuffer)
        /// The part is whole.
        case end
    }

    /// Bytes of the headers of one part.
    static let maximumHead = 8 << 10
    static let maximumHeaders = 16
    /// Bytes before the first boundary and after the last.
    static let maximumMargin = 64 << 10
    /// Parts; a job has 10 attachments and a description.
    static let maximumParts = 16

    private enum Place {
        case preamble
        /// Behind a boundary: the next part, or the end.
        case boundary
        case head
        case body
        case epilogue
    }

    private let delimiter: [UInt8]
    private var place = Place.preamble
    private var pending = ByteBuffer(string: "\r\n")
    private var margin = 0
    private var parts = 0

    /// - Parameter boundary: As the Content-Type says; 1 to 70 characters.
    init(boundary: String) throws(MultipartError) {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F || $0 == 0x20 })
        else { throw MultipartError("the boundary must have 1 to 70 visible characters") }
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Takes the next piece of the body.
    mutating func feed(_ piece: ByteBuffer) throws(MultipartError) -> [Event] {
        var piece = piece
        pending.discardReadBytes()
        pending.writeBuffer(&piece)
        var events: [Event] = []
        while try step(&events) {}
        return events
    }

    /// The body has come to its end.
    ///
    /// - Throws: Where it ended too early.
    func finish() throws(MultipartError) {
        switch place {
        case .epilogue: return
        case .preamble: throw MultipartError("the boundary does not occur in the body")
        case .boundary, .head, .body: throw MultipartError("the body ends before its last boundary")
        }
    }

    /// False where more bytes are needed.
    private mutating func step(_ events: inout [Event]) throws(MultipartError) -> Bool {
        switch place {
        case .preamble:
            let (skipped, found) = takeUntilDelimiter()
            try count(skipped?.readableBytes ?? 0)
            if found { place = .boundary }
            return found
        case .boundary:
            return try passBoundary()
        case .head:
            guard let head = try takeHead() else { return false }
            events.append(.begin(head))
            place = .body
            return true
        case .body:
            let (bytes, found) = takeUntilDelimiter()
            if let bytes, bytes.readableBytes > 0 { events.append(.bytes(bytes)) }
            if found {
                events.append(.end)
                place = .boundary
            }
            return found
        case .epilogue:
            try count(pending.readableBytes)
            pending.clear()
            return false
        }
    }

    private mutating func count(_ bytes: Int) throws(MultipartError) {
        margin += bytes
        guard margin <= Self.maximumMargin else {
            throw MultipartError("it has more than \(Self.maximumMargin) bytes outside of its parts")
        }
    }

    /// Takes what certainly lies before the next boundary, and the boundary where it is there.
    private mutating func takeUntilDelimiter() -> (bytes: ByteBuffer?, found: Bool) {
        let view = pending.readableBytesView
        var from = view.startIndex
        while let candidate = view[from...].firstIndex(of: UInt8(ascii: "\r")) {
            let rest = view[candidate...].prefix(delimiter.count)
            if rest.elementsEqual(delimiter.prefix(rest.count)) {
                let bytes = pending.readSlice(length: candidate - view.startIndex)
                guard rest.count == delimiter.count else { return (bytes, false) }
                pending.moveReaderIndex(forwardBy: delimiter.count)
                return (bytes, true)
            }
            from = view.index(after: candidate)
        }
        return (pending.readSlice(length: pending.readableBytes), false)
    }

    private mutating func passBoundary() throws(MultipartError) -> Bool {
        let view = pending.readableBytesView
        guard view.count >= 2 else { return false }
        if view.starts(with: "--".utf8) {
            pending.moveReaderIndex(forwardBy: 2)
            place = .epilogue
            return true
        }
        // Padding that a transport may have added.
        let padding = view.prefix { $0 == 0x20 || $0 == 0x09 }.count
        guard padding <= 256 else { throw MultipartError("a boundary is followed by too much white space") }
        let rest = view.dropFirst(padding)
        guard rest.count >= 2 else { return false }
        guard rest.starts(with: "\r\n".utf8) else { throw MultipartError("a boundary is not at the end of its line") }
        parts += 1
        guard parts <= Self.maximumParts else { throw MultipartError("it has more than \(Self.maximumParts) parts") }
        // The line's end stays: a part without headers has nothing but it and an empty line.
        pending.moveReaderIndex(forwardBy: padding)
        place = .head
        return true
    }

    private mutating func takeHead() throws(MultipartError) -> MultipartHead? {
        let view = pending.readableBytesView
        let end = Array("\r\n\r\n".utf8)
        var from = view.startIndex
        while let candidate = view[from...].firstIndex(of: UInt8(ascii: "\r")) {
            guard candidate - view.startIndex <= Self.maximumHead else { break }
            let rest = view[candidate...].prefix(end.count)
            if rest.elementsEqual(end) {
                let text = Array(view[view.startIndex..<candidate])
                pending.moveReaderIndex(forwardBy: candidate - view.startIndex + end.count)
                // A boundary may follow at once: the line's end before it belongs to it.
                return try MultipartHead(lines: text)
            }
            from = view.index(after: candidate)
        }
        guard view.count <= Self.maximumHead else {
            throw MultipartError("the headers of a part have more than \(Self.maximumHead) bytes")
        }
        return nil
    }
}

/// What a body that is no `multipart/form-data` has wrong, as a clause.
struct MultipartError: Error, Equatable {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// What the headers of a part say.
struct MultipartHead: Hashable, Sendable {
    var name: String
    /// As the client has it: not yet fit to be a file's name.
    var fileName: String?
    var contentType: String?

    /// Reads headers, each of which a line's end precedes.
    init(lines bytes: [UInt8]) throws(MultipartError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MultipartError("the headers of a part are not UTF-8")
        }
        var disposition: HeaderParameters?
        var contentType: String?
        // As bytes: to Swift a carriage return and a line feed are one character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { line in
            String(Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line))
        }
        guard lines.count <= MultipartParser.maximumHeaders + 1 else {
            throw MultipartError("a part has more than \(MultipartParser.maximumHeaders) headers")
        }
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
                line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw MultipartError("a part has a header without a name") }
            let value = String(line[line.index(after: colon)...])
            switch line[..<colon].lowercased() {
            case "content-disposition":
                guard disposition == nil else { throw MultipartError("a part has two Content-Dispositions") }
                guard let read = HeaderParameters(value) else {
                    throw MultipartError("the Content-Disposition of a part can't be read")
                }
                disposition = read
            case "content-type":
                contentType = value.split(separator: ";").first.map { $0.trimmingSpace().lowercased() }
            default: break
            }
        }
        guard let disposition, disposition.value == "form-data" else {
            throw MultipartError("a part lacks its 'Content-Disposition: form-data'")
        }
        guard let name = disposition["name"], !name.isEmpty else { throw MultipartError("a part has no name") }
        self.name = name
        fileName = disposition["filename"]
        self.contentType = contentType
    }
}
