public import Ingest

/// How sources are scanned.
public struct Scanning: Sendable {
    public var scanner: any SourceScanner
    /// For one source.
    public var timeout: Duration
    public var failure: ScanFailureMode

    public init(by scanner: any SourceScanner, timeout: Duration = .seconds(10), failure: ScanFailureMode = .closed) {
        self.scanner = scanner
        self.timeout = timeout
        self.failure = failure
    }
}

/// What becomes of a source about which the scanner says nothing.
public enum ScanFailureMode: String, Hashable, Sendable, CaseIterable {
    /// It isn't delivered, and tried again.
    case closed
    /// It is delivered, with a step that says so.
    case open
}
