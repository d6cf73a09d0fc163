import SatchelCore
import FoundationEssentials
import HTTPTypes
import Jobs

extension HandlerClient {
    /// What a category's handler says to a response.
    ///
    /// - Throws: Why it said nothing that can be taken.
    func decision(
        of handler: ResponseHandler, to request: HandlerRequest, secrets: [WebhookSecret]
    ) async throws(HandlerFailure) -> HandlerAnswer {
        let body = try await answer(of: handler, to: request.body, id: request.response.id, secrets: secrets).get()
        do throws(Problem) {
            return try ResponseReader.answer(body)
        } catch {
            let problems = error.errors.map { "\($0.pointer): \($0.detail)" }.joined(separator: " ")
            throw HandlerFailure(
                error.code == "invalid_json"
                    ? "the answer is not valid JSON"
                    : "the answer is invalid: \(problems.isEmpty ? error.detail : problems)")
        }
    }
}

extension Problem {
    /// What a response that can't be taken means as an answer.
    init(_ refusal: ResponseRefusal) {
        switch refusal {
        case .unknownAction: self.init(.conflict, "unknown_action", refusal.message)
        case .textNotTaken: self = .invalid("/text", refusal.message)
        }
    }
}
