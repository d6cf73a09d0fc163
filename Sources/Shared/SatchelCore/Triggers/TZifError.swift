/// Why a file is no TZif file that can be relied on.
public enum TZifError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It doesn't begin as one.
    case noTZif
    case unknownVersion(UInt8)
    /// It ends before what its header announces.
    case truncated
    /// A count of the header that can't be.
    case badCount(String)
    case unorderedTransitions
    /// A change to a kind of time that isn't described.
    case badType
    /// Clocks that differ from UTC by more than a day.
    case badOffset(Int)
    case badDesignation
    /// Its seconds include leap seconds, as those beneath `right/` do; POSIX's, which clocks of machines show, don't.
    case countsLeapSeconds
    /// The line at its end isn't closed, or no time zone as POSIX writes them.
    case badFooter

    public var description: String {
        switch self {
        case .noTZif: "it is no TZif file"
        case .unknownVersion(let byte): "its version, byte \(byte), is none that there is"
        case .truncated: "it ends too early"
        case .badCount(let name): "its header's \(name) can't be"
        case .unorderedTransitions: "its changes of clocks are not in order"
        case .badType: "it changes to a kind of time that it doesn't describe"
        case .badOffset(let seconds): "it has clocks that are \(seconds) s off UTC"
        case .badDesignation: "a name of its kinds of time isn't there"
        case .countsLeapSeconds: "it counts leap seconds, which clocks of machines don't"
        case .badFooter: "the line at its end is no time zone as POSIX writes them"
        }
    }
}
