import ServiceTestSupport

extension LocalOrigin {
    /// The files of `Media/`, and takes every POST.
    static let mediaAndHook: Script = { request in
        request.method == "POST" ? Answer(status: 204) : try await media(request)
    }
}

func putNotification(
    _ id: String, _ json: String, _ live: LiveService, _ headers: [String: String] = [:]
) async throws -> Reply {
    try await live.send(.put, "/v1/notifications/\(id)", headers, json: json)
}
