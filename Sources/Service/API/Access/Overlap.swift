import SatchelCore
import FoundationEssentials
import Hummingbird

/// How long what a rotation replaces stays good: the body of each of them.
struct Overlap {
    private static let bodyLimit: Int64 = 16 << 10
    /// Seconds: 30 days at most, a day where nothing is said.
    private static let range = 0.0...2_592_000
    private static let standard = 86_400.0

    var duration: Duration

    /// - Throws: A problem that names what can't be taken.
    init(_ request: Request) async throws {
        let body = try await IncomingBody.json(of: request, limit: Self.bodyLimit)
        var seconds: Double?
        if body.readableBytes > 0 {
            let errors = ValidationErrors()
            let reader = try FieldReader(body: body.readableBytesView, known: ["overlap"], errors)
            seconds = reader.number("overlap", in: Self.range)
            try errors.check()
        }
        duration = .seconds(fraction: seconds ?? Self.standard)
    }
}
