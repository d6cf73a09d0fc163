public import FoundationEssentials
import Glibc

/// Which of the files beneath a root are wanted, by patterns over the path relative to it.
///
/// Patterns are those of `fnmatch(3)` without flags, over bytes: `*` also matches `/` and a leading dot, so that
/// `*.jpg` means every such file however deep. A file is wanted when it matches one of `include` (or there is none)
/// and none of `exclude`. A directory that matches `exclude` is not entered.
public struct PathFilter: Hashable, Sendable {
    public var include: [String]
    public var exclude: [String]

    public init(include: [String] = [], exclude: [String] = []) {
        self.include = include
        self.exclude = exclude
    }

    /// Whether a file is wanted.
    public func accepts(file path: Data) -> Bool {
        (include.isEmpty || Self.any(include, matches: path)) && !Self.any(exclude, matches: path)
    }

    /// Whether a directory is entered.
    public func enters(directory path: Data) -> Bool {
        !Self.any(exclude, matches: path)
    }

    private static func any(_ patterns: [String], matches path: Data) -> Bool {
        guard !patterns.isEmpty, let name = CPath(path) else { return false }
        return patterns.contains { pattern in
            guard let pattern = CPath(pattern.utf8) else { return false }
            return unsafe pattern.withPointer { pattern in
                unsafe name.withPointer { name in unsafe fnmatch(pattern, name, 0) == 0 }
            }
        }
    }
}
