import SatchelCore
import Payloads

extension JSONValue {
    /// A value as the API writes it.
    init(encoding value: some Encodable) {
        // What we encode can be read.
        let bytes = (try? JSON.encode(value)).map(Array.init) ?? []
        self = (try? JSONDocument.read(bytes, .requestBody).root) ?? .null
    }
}
