import SatchelCore
public import Hummingbird

/// The whole API: every endpoint, connected with what answers it, but for content, which connections answer themselves
/// (``ContentResponder``).
public func routes(of service: Service) -> Router<ServiceContext> {
    let router = Router(context: ServiceContext.self)
    router.add(middleware: RequestObservation(metrics: service.metrics, isLogging: service.settings.logsRequests))
    router.add(middleware: ProblemMiddleware())
    router.add(middleware: ReadingMiddleware(records: service.records))
    let answers = EndpointAnswers(service)
    let table = RouteTable(router, answers, service)
    JobRoutes(service: service).add(to: table)
    EventRoutes(service: service).add(to: table)
    CallRoutes(service: service).add(to: table)
    AttachmentRoutes(service: service).add(to: table)
    AccessRoutes(service: service).add(to: table)
    KeyRoutes(service: service).add(to: table)
    WebhookSecretRoutes(service: service).add(to: table)
    PayloadRoutes(service: service).add(to: table)
    NotificationRoutes(service: service).add(to: table)
    ResponseRoutes(service: service).add(to: table)
    UploadRoutes(service: service).add(to: table)
    PreviewRoutes(service: service).add(to: table)
    TriggerRoutes(service: service).add(to: table)
    CategoryRoutes(service: service).add(to: table)
    OverviewRoutes(service: service).add(to: table)
    OperationRoutes(service: service).add(to: table)
    DescriptionRoutes(service: service).add(to: table)
    AssetRoutes().add(to: table)
    ConsoleRoutes(service, answers).add(to: router)
    ClusterRoutes(service: service).add(to: router)
    table.refuseOtherMethods()
    return router
}
