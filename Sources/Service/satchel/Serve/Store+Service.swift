import API
import Logging
import Stores

extension Store {
    /// Runs `body` with the service's code and configuration on this store, without listening or working in the background.
    func withService<Result>(
        _ body: (API.Service, ServiceConfiguration) async throws -> Result
    ) async throws -> Result {
        var configuration = StoreOptions.configured
        configuration.completePublicURL()
        let codecs = try ServiceComposition.codecs(for: &configuration)
        let service = try ServiceComposition.service(
            configuration, store: self, codecs: codecs,
            logger: Logger(label: "satchel") { _ in SwiftLogNoOpLogHandler() }, metrics: MetricsRegistry())
        return try await ending(with: { await service.end() }) { try await body(service, configuration) }
    }
}
