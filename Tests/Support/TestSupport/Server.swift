import Foundation
public import Testing

/// A server that `make test` does without: it takes hundreds of megabytes to install.
///
/// A test or suite that needs one has the trait ``Testing/Trait/needs(_:)``; a test with cases for it has
/// ``Testing/Trait/hasCases(for:)``. `Tests/run.sh` finds both words in the sources, and the part `servers` of
/// `make check` runs what `make test` left out. Where the server is missing, the test fails there.
public enum Server: Sendable {
    /// Ceph's object gateway: see ``S3Gateway``.
    case ceph
    /// Chromium and its driver: see ``Browser``.
    case chromium
    /// Prometheus' `promtool`.
    case prometheus

    /// `SATCHEL_TEST_SERVERS`: `none` leaves out what needs a server, `only` leaves out the other cases.
    private static let choice = ProcessInfo.processInfo.environment["SATCHEL_TEST_SERVERS"]

    /// Whether this run does without servers.
    public static let areLeftOut = choice == "none"

    /// The cases of a test that this run tries.
    public static func cases<Case>(_ all: [Case], needingServer: (Case) -> Bool) -> [Case] {
        switch choice {
        case "none": all.filter { !needingServer($0) }
        case "only": all.filter(needingServer)
        default: all
        }
    }

    /// Fails where a test asks for a server without saying so by a trait.
    func demand() throws {
        struct Unnamed: Error, CustomStringConvertible {
            var description: String
        }
        if Self.areLeftOut { throw Unnamed(description: "this test lacks the trait .needs(.\(self))") }
    }
}

extension Trait where Self == ConditionTrait {
    /// The test or suite needs a server; `make test` leaves it out.
    public static func needs(_ server: Server) -> Self {
        .disabled(if: Server.areLeftOut, "needs \(server): make check runs it")
    }

    /// Some of the test's cases need a server; `make test` leaves these out (``Server/cases(_:needingServer:)``).
    public static func hasCases(for server: Server) -> Self {
        .enabled(if: true)
    }
}
