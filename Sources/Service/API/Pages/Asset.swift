import SatchelCore
import CAssets
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// A file that pages need, embedded in the executable. Its path has its hash, so that whoever has it never asks again.
struct Asset: Sendable {
    /// Such as `preview.css`.
    let name: String
    let mediaType: String
    let bytes: [UInt8]
    /// `/assets/preview-1f0c….css`
    let path: String

    private init(_ name: String, _ mediaType: String, _ bytes: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.bytes = bytes
        let hash = SHA256.hash(data: bytes).prefix(8).hexadecimal
        let parts = name.split(separator: ".", maxSplits: 1)
        path = Self.directory + "\(parts[0])-\(hash).\(parts.count > 1 ? parts[1] : "")"
    }

    private static let directory = "/assets/"

    static let previewStyle = Asset("preview.css", "text/css; charset=utf-8", EmbeddedFile.previewStyle)
    static let previewScript = Asset("preview.js", "text/javascript; charset=utf-8", EmbeddedFile.previewScript)
    static let consoleStyle = Asset("console.css", "text/css; charset=utf-8", EmbeddedFile.consoleStyle)
    static let consoleScript = Asset("console.js", "text/javascript; charset=utf-8", EmbeddedFile.consoleScript)

    static let documentationScript = Asset(
        "docs.js", "text/javascript; charset=utf-8", EmbeddedFile.documentationScript)

    static let all = [previewStyle, previewScript, consoleStyle, consoleScript, documentationScript]

    /// The one whose path ends so.
    static func at(_ name: String) -> Asset? {
        all.first { $0.path == directory + name }
    }
}

/// The files beside the sources that are part of the executable.
enum EmbeddedFile {
    static var openAPI: [UInt8] { unsafe content(embedded_openapi_json()) }
    static var documentationScript: [UInt8] { unsafe content(embedded_docs_js()) }
    static var previewStyle: [UInt8] { unsafe content(embedded_preview_css()) }
    static var previewScript: [UInt8] { unsafe content(embedded_preview_js()) }
    static var consoleStyle: [UInt8] { unsafe content(embedded_console_css()) }
    static var consoleScript: [UInt8] { unsafe content(embedded_console_js()) }
    static var receiveCallbacks: [UInt8] { unsafe content(embedded_receive_callbacks_py()) }
    static var submitOnce: [UInt8] { unsafe content(embedded_submit_once_sh()) }
    static var readErrors: [UInt8] { unsafe content(embedded_read_errors_py()) }
    static var sizing: [UInt8] { unsafe content(embedded_sizing_py()) }

    private static func content(_ file: embedded_file) -> [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}

/// The files that pages load.
struct AssetRoutes: Sendable {
    func add(to table: RouteTable) {
        table.on(.asset) { _, context in try Self.response(context) }
    }

    static func response(_ context: ServiceContext) throws -> Response {
        guard let asset = Asset.at(try context.parameter("name")) else { throw Problem.notFound }
        var headers = HTTPFields.anyOrigin
        headers[.contentType] = asset.mediaType
        headers[.cacheControl] = "public, max-age=31536000, immutable"
        headers[.xContentTypeOptions] = "nosniff"
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }
}
