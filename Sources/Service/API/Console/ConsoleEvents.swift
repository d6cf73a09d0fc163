import SatchelCore
import HTTPTypes
import Hummingbird

/// What a job's page hears while somebody looks: the events of the API, for as long as they are signed in.
struct ConsoleEvents: Sendable {
    private let visit: ConsoleVisit
    private let token: AccessToken

    /// - Parameter token: The session's.
    init(_ visit: ConsoleVisit, _ token: AccessToken) {
        self.visit = visit
        self.token = token
    }

    func response() async throws -> Response {
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name.lastEventID { headers[name] = visit.request.headers[name] }
        var response = try await visit.api.response(.jobEvents, ["id": visit.parameter("id")], headers: headers)
        let (token, records) = (token, visit.service.records)
        response.body = response.body.map { piece in
            // It is no look of a person's: no session lasts longer by it. Once that is over the connection ends, and whoever
            // comes again is asked to sign in.
            guard try await records.consoleSession(of: token, byPerson: false) != nil else { throw CancellationError() }
            return piece
        }
        return response
    }
}

extension HTTPField.Name {
    static let lastEventID = Self("Last-Event-ID")
}
