import Foundation
import Glibc

/// What this process may do on the machine.
public enum Privileges {
    /// Whether this process is root with other users to become; in a namespace of one ordinary user it is that user.
    public static let canChangeUser: Bool = {
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        let first = map.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return getuid() == 0 && (first.count > 3 || first.prefix(2) == [0, 0])
    }()
}
