import SatchelCore
import Crypto
public import FoundationEssentials

/// Names of files that a directory can hold, made of names that may be too long for it.
public enum FittingName {
    /// `~` and 128 bits of the whole name's SHA-256, in hexadecimal.
    private static let markLength = 33

    /// `name`, or where it has more than `limit` bytes its beginning and a mark that no other name has.
    ///
    /// A name that fits and looks as if it had been shortened gets a mark as well, so that two names never share one.
    /// UTF-8 isn't cut inside a character.
    ///
    /// - Parameter limit: More than the mark's 33 bytes.
    public static func of(_ name: Data, atMost limit: Int) -> Data {
        precondition(limit > markLength, "a name has room for its mark")
        guard name.count > limit || looksShortened(name, limit) else { return name }
        var kept = name.prefix(limit - markLength)
        // Bytes that go on with a character, and then its first one, where the cut is inside.
        if let next = name.dropFirst(kept.count).first, isContinuation(next) {
            while let last = kept.last, isContinuation(last), kept.count > limit - markLength - 2 { kept.removeLast() }
            if let last = kept.last, last >= 0xC0 { kept.removeLast() }
        }
        return marked(Data(kept), as: name)
    }

    /// `name` with the mark of all of what it stands for.
    public static func marked(_ name: Data, as whole: Data) -> Data {
        name + Data("~\(SHA256.hash(data: whole).prefix((markLength - 1) / 2).hexadecimal)".utf8)
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// What is as long as a shortened name, or up to three bytes less, and ends as one.
    private static func looksShortened(_ name: Data, _ limit: Int) -> Bool {
        guard name.count >= limit - 3 else { return false }
        let mark = name.suffix(markLength)
        return mark.first == UInt8(ascii: "~")
            && mark.dropFirst().allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
