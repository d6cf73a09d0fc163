/// What clamd answers to INSTREAM (clamd(8), "COMMANDS"), up to the NUL that ends it.
enum ClamdReply {
    /// Longer than any with the name of what was found.
    static let longest = 4096

    /// - Throws: Where it says neither that there is nothing nor what was found.
    static func verdict(of reply: String) throws(ScanFailure) -> ScanVerdict {
        let (stream, found) = ("stream: ", " FOUND")
        if reply == stream + "OK" { return .clean }
        guard reply.hasPrefix(stream), reply.hasSuffix(found), reply.utf8.count > stream.utf8.count + found.utf8.count
        else { throw .answered(reply) }
        return .rejected(for: String(reply.dropFirst(stream.count).dropLast(found.count)))
    }
}
