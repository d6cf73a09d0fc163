import SatchelCore
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Payloads

extension Response {
    /// An answer with a JSON body that was encoded before. Nothing of a tenant's is cached by others.
    static func json(_ data: Data, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }

    static func json(_ value: JSONValue) -> Response { json(Data(value.bytes)) }

    /// A page of a list whose elements hold JSON as it came.
    static func page(_ name: String, _ elements: [JSONValue], next: String?) -> Response {
        json(
            JSONValue(members: [
                (name, JSONValue(elements: elements)),
                ("next", next.map { JSONValue(ListParameters.cursor($0)) } ?? .null),
            ]))
    }

    static func json(
        _ value: some Encodable, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        json(try JSON.encode(value), status, headers: headers)
    }
}

extension JSONValue {
    /// A value as the API writes it.
    init(encoding value: some Encodable) {
        // What we encode can be read.
        let bytes = (try? JSON.encode(value)).map(Array.init) ?? []
        self = (try? JSONDocument.read(bytes, .requestBody).root) ?? .null
    }
}
