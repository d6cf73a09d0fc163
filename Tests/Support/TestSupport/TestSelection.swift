import Foundation
public import Testing

/// Which tests and cases this run tries, by `SATCHEL_TEST_SELECTION`.
///
/// `make test` has no large servers and little time, so it leaves out tests with the traits ``Testing/Trait/needs(_:)`` and
/// ``Testing/Trait/inCheck(_:)``, and the cases that ``Testing/Trait/hasCases(for:)`` names. `Tests/run.sh` finds these words in
/// the sources, and `make check` runs what was left out. A server that is missing there fails its tests.
public enum TestSelection {
    /// `test` in `make test`, `rest` in the parts of `make check` that run what was left out; otherwise everything runs.
    private static let choice = ProcessInfo.processInfo.environment["SATCHEL_TEST_SELECTION"]

    /// Whether this run does without servers and expensive tests.
    public static let isSmall = choice == "test"

    /// The cases of a test that this run tries.
    public static func cases<Case>(_ all: [Case], needingServer: (Case) -> Bool) -> [Case] {
        switch choice {
        case "test": all.filter { !needingServer($0) }
        case "rest": all.filter(needingServer)
        default: all
        }
    }
}

/// A server that takes hundreds of megabytes to install.
public enum Server: Sendable {
    /// Ceph's object gateway: see ``S3Gateway``.
    case ceph
    /// Chromium and its driver: see ``Browser``.
    case chromium
    /// Prometheus' `promtool`.
    case prometheus

    /// Fails where a test asks for a server without saying so by a trait.
    func demand() throws {
        struct Unnamed: Error, CustomStringConvertible {
            var description: String
        }
        if TestSelection.isSmall { throw Unnamed(description: "this test lacks the trait .needs(.\(self))") }
    }
}

extension Trait where Self == ConditionTrait {
    /// The test or suite needs a server; `make test` leaves it out.
    public static func needs(_ server: Server) -> Self {
        .disabled(if: TestSelection.isSmall, "needs \(server): make check runs it")
    }

    /// The test or suite is expensive; `make test` leaves it out.
    public static func inCheck(_ reason: Comment) -> Self {
        .disabled(if: TestSelection.isSmall, "\(reason.rawValue): make check runs it")
    }

    /// Some of the test's cases need a server; `make test` leaves these out (``TestSelection/cases(_:needingServer:)``).
    public static func hasCases(for server: Server) -> Self {
        .enabled(if: true)
    }
}
