import CAssets

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
