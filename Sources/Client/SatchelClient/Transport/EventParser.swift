import Foundation

/// A server-sent event, as the HTML standard has it.
struct ServerEvent: Sendable, Hashable {
    var id: String?
    var name: String
    var data: String
}

/// Takes a stream of server-sent events apart, whatever pieces it comes in.
struct EventParser {
    private var line: [UInt8] = []
    private var endedWithReturn = false
    private var isFirst = true
    private var id: String?
    private var name = ""
    private var data: [String] = []

    mutating func consume(_ bytes: some Sequence<UInt8>) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where endedWithReturn: endedWithReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                endedWithReturn = byte == UInt8(ascii: "\r")
                if let event = end(of: String(decoding: line, as: UTF8.self)) { events.append(event) }
                line.removeAll(keepingCapacity: true)
            default:
                endedWithReturn = false
                line.append(byte)
            }
        }
        return events
    }

    private mutating func end(of line: String) -> ServerEvent? {
        var line = line
        // A byte order mark may begin the stream.
        if isFirst, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
        isFirst = false
        guard !line.isEmpty else {
            defer {
                name = ""
                data = []
            }
            return data.isEmpty
                ? nil : ServerEvent(id: id, name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.first == " " { value.removeFirst() }
        switch parts[0] {
        case "id": id = String(value)
        case "event": name = String(value)
        case "data": data.append(String(value))
        default: break
        }
        return nil
    }
}
