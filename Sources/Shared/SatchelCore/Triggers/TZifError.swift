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
        case .noTZif: "it is not a TZif file"
        case .unknownVersion(let byte): "its version, byte \(byte), is unknown"
        case .truncated: "it ends too early"
        case .badCount(let name): "its header has an invalid \(name)"
        case .unorderedTransitions: "its clock changes are not in order"
        case .badType: "it changes to a local time type that it doesn't describe"
        case .badOffset(let seconds): "it has an offset of \(seconds) s from UTC"
        case .badDesignation: "the name of a local time type is missing"
        case .countsLeapSeconds: "it counts leap seconds, which system clocks don't"
        case .badFooter: "its footer is not a POSIX time zone"
        }
    }
}
