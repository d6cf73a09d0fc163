import SatchelCore
import HTTPTypes
import Hummingbird
import Jobs
import Stores

/// What the nodes of a store ask each other: the events of a job, as they happen here. Nobody else can ask, and no client has a
/// reason to: it is no part of the described API.
struct ClusterRoutes: Sendable {
    let service: Service

    func add(to router: Router<ServiceContext>) {
        router.get(RouterPath(EventRelay.path)) { request, context in try answer(request, context) }
    }

    private func answer(_ request: Request, _ context: ServiceContext) throws -> Response {
        guard let passes = service.store.passes, let proofHeader = HTTPField.Name(EventRelay.proofHeader) else {
            throw Problem.notFound
        }
        guard let pass = Authentication.bearer(of: request), let (subscription, proof) = passes.admit(pass.secretText)
        else {
            throw Problem.unauthorized
        }
        let last = request.headers["Last-Event-ID"]
        let events = service.jobs.events
        return .events(context, headers: [proofHeader: proof]) { send in
            let resting = Task {
                while !Task.isCancelled {
                    // At once, so that the head is sent.
                    send(EventText.comment)
                    try await Task.sleep(for: EventRelay.heartbeat)
                }
            }
            defer { resting.cancel() }
            for await numbered in events.follow(subscription.job.job, of: subscription.job.tenant, after: last) {
                guard numbered.event.generation >= subscription.generation else { continue }
                // Another has it by now, and tells.
                if case .remote = numbered.event.what { return }
                send(try EventText.event(numbered))
            }
        }
    }
}
