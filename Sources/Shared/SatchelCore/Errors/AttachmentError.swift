/// Why an attachment was not delivered.
///
/// Speaks to three readers: ``code`` for programs, never reworded; ``message`` for the sender, saying what to do
/// differently and nothing of the inside; ``description`` for the log.
public enum AttachmentError: Error, Hashable, Sendable, Codable {
    /// Not a usable URL, file or body. `reason` is a clause for the sender: `it is a directory`.
    case invalidSource(reason: String)
    /// The URL leads to an address that the fetch guard refuses.
    case blockedAddress(host: String, address: String)
    /// The origin did not give it: `reason` as a clause.
    case fetchFailed(FetchCause.Kind, status: Int? = nil, reason: String)
    /// The origin took longer than `seconds`.
    case fetchTimeout(seconds: Double)
    /// No decoder agrees that it is an accepted type; `sniffed` is libmagic's media type.
    case unrecognizedType(sniffed: String?)
    /// The same of a file whose name or declared type promises the type with this file name extension.
    case misnamed(fileExtension: String, sniffed: String?)
    /// Whole, as far as can be told, but of a kind or variant that is not taken. `reason` is a clause that names it, `advice` a
    /// sentence that says what to do: `its sound is Speex, which is not supported`, `Convert it to AAC.`
    case unsupportedFeature(reason: String, advice: String)
    /// The source has a type that this profile doesn't take.
    case unacceptedKind(kind: MediaKind, profile: String)
    case sourceTooLarge(bytes: Int64, limit: Int64)
    case tooManyPixels(pixels: Int64, limit: Int64)
    case sideTooLong(pixels: Int, limit: Int)
    case tooManyFrames(frames: Int, limit: Int)
    /// Longer than the profile takes, in seconds.
    case tooLong(seconds: Double, limit: Double)
    /// More streams, colour profile bytes or another countable thing than the limit allows.
    case tooMuch(what: String, count: Int64, limit: Int64)
    /// Over the memory or CPU time it was granted. `resource` is `memory` or `CPU time`.
    case tooExpensive(resource: String, granted: String)
    /// Cannot be made small enough under this profile; `advice` says what would do.
    case capUnreachable(rendition: String, bytes: Int64, cap: Int64, advice: String)
    /// The record or its bytes are gone.
    case notInStore(what: String)
    /// The store could not be read or written. `reason` is a clause that says what was being done.
    case storeFailed(reason: String)
    case storeFull
    /// A node's disk for working copies is full; the copy in progress has at least `needed` bytes.
    case scratchFull(needed: Int64)
    /// The job's working copies have `needed` bytes, more than a node's whole disk for them.
    case scratchTooSmall(needed: Int64, size: Int64)
    /// The store stays unusable until its operator does something. `reason` is a clause, then may say what to do.
    case storeUnusable(reason: String)
    /// The service lacked processes, threads, open files or memory of its own. `reason` is for the log.
    case outOfResources(reason: String)
    /// Truncated or damaged, where what was found proves that: `corrupt`. Else a decoder could not read it: `undecodable`.
    case unreadable(Finding)
    /// The decoder died on it or broke the protocol. `reason` is for the log.
    case codecCrashed(reason: String)
    /// Nothing was ready after `seconds`.
    case deadlineExceeded(seconds: Double)
    /// Could have been delivered, but its job is strict and the attachment `identifier` failed with `code`.
    case withheld(identifier: String, code: ErrorCode)
    case queueFull
    /// There is no room for one more, or for so many bytes: `used` of `allowed` are taken.
    case quotaExceeded(QuotaSubject, used: Int64, allowed: Int64)
    case rateLimited
    /// The receiver of a firing didn't take it. `reason` is a clause.
    case handoverFailed(reason: String)
    /// A firing whose notification was changed or removed before it was handed over.
    case superseded
    /// An upload that is named as a source isn't whole, or ended before it was.
    case uploadIncomplete(UploadState)
    /// An upload that is named as a source belongs to another job or notification, or its bytes were needed no longer.
    case uploadConsumed
    /// Bytes are not those that were announced.
    case checksumMismatch
    /// A scanner doesn't let the source be delivered.
    case rejectedByScan(reason: String)
    /// No scanner has said that the source may be delivered; the reason is a clause of which it is the subject.
    case scanFailed(reason: String)
    /// An encrypted source isn't what its key says that it is. `reason` is a clause.
    case decryptionFailed(reason: String)

    /// More bytes of memory are `needed`, by an estimate from the header, than there may be.
    public static func tooMuchMemory(needed: Int64, granted: Int64) -> AttachmentError {
        .tooExpensive(resource: "memory (some \(needed >> 20) MiB)", granted: "\(granted >> 20) MiB")
    }

    /// For programs; never reworded.
    public var code: ErrorCode {
        switch self {
        case .invalidSource: .invalidSource
        case .blockedAddress: .blockedAddress
        case .fetchFailed: .fetchFailed
        case .fetchTimeout: .fetchTimeout
        case .unrecognizedType, .misnamed, .unacceptedKind: .unrecognizedType
        case .unsupportedFeature: .unsupportedFeature
        case .sourceTooLarge: .sourceTooLarge
        case .tooManyPixels, .sideTooLong: .tooManyPixels
        case .tooManyFrames: .tooManyFrames
        case .tooLong: .tooLong
        case .tooMuch, .tooExpensive: .tooExpensive
        case .capUnreachable: .capUnreachable
        case .notInStore: .notInStore
        case .storeFailed, .storeUnusable, .outOfResources: .storeFailed
        case .storeFull, .scratchFull, .scratchTooSmall: .storeFull
        case .unreadable(let finding): finding.code.isProof ? .corrupt : .undecodable
        case .codecCrashed: .codecCrashed
        case .deadlineExceeded: .deadlineExceeded
        case .withheld: .withheld
        case .queueFull: .queueFull
        case .quotaExceeded: .quotaExceeded
        case .rateLimited: .rateLimited
        case .handoverFailed: .handoverFailed
        case .superseded: .superseded
        case .uploadIncomplete: .uploadIncomplete
        case .uploadConsumed: .uploadConsumed
        case .checksumMismatch: .checksumMismatch
        case .rejectedByScan: .rejectedByScan
        case .scanFailed: .scanFailed
        case .decryptionFailed: .decryptionFailed
        }
    }

    /// For the sender: one or two sentences that say what to do differently.
    public var message: String {
        switch self {
        case .invalidSource(let reason):
            "Not a usable source: \(reason)."
        case .blockedAddress(let host, _):
            "Satchel will not fetch from '\(host)': only public addresses and standard ports are allowed. An operator can allow it with the setting fetch.allow."
        case .fetchFailed(let kind, let status, let reason):
            "\(status.map { "The origin answered \($0)" } ?? "The origin did not return the file"): \(reason). \(FetchCause(kind, status: status).advice)"
        case .fetchTimeout(let seconds):
            "The origin did not return the file within \(Self.number(seconds)) s. \(FetchCause(.tooSlow).advice)"
        case .unrecognizedType(let sniffed):
            Self.unrecognized(sniffed)
        case .misnamed(let fileExtension, let sniffed?)
        where MediaType(declared: sniffed) == MediaType(declared: fileExtension):
            "This is named .\(fileExtension) and begins like one, but Satchel could read nothing behind that. Reason unknown: check that it opens elsewhere."
        case .misnamed(let fileExtension, let sniffed):
            if let format = sniffed.flatMap(ForeignFormat.init(sniffed:)) {
                "This is named .\(fileExtension), but it is \(format.name). \(format.advice)"
            } else {
                Self.isText(sniffed)
                    ? "This is named .\(fileExtension), but it is text (\(sniffed ?? "")), not a picture, sound or video. Open it as text to see: it may be a server's error message."
                    : "This is named .\(fileExtension), but it begins like no format that Satchel knows\(Self.likeness(sniffed)). Check that it is the right file, whole and not encrypted."
            }
        case .unsupportedFeature(let reason, let advice):
            "\(reason.prefix(1).uppercased())\(reason.dropFirst()). \(advice)"
        case .unacceptedKind(let kind, let profile):
            "The profile '\(profile)' does not accept \(kind.plural). Choose another profile."
        case .sourceTooLarge(let bytes, let limit):
            "The file has \(bytes) bytes; the limit is \(limit). Send a smaller file."
        case .tooManyPixels(let pixels, let limit):
            "The picture has \(pixels) pixels according to its header; the limit is \(limit). Send a smaller picture, or export it again."
        case .sideTooLong(let pixels, let limit):
            "The picture's longer side has \(pixels) pixels; the limit is \(limit). Crop it, or send a smaller picture."
        case .tooManyFrames(let frames, let limit):
            "The animation has \(frames) frames; the limit is \(limit). Send a shorter animation, or a video."
        case .tooLong(let seconds, let limit):
            "The recording is \(Self.number(seconds)) s long; this profile accepts at most \(Self.number(limit)) s. Request a trim."
        case .tooMuch(let what, let count, let limit):
            "The file has \(count) \(what); the limit is \(limit). Export it again in a simpler form."
        case .tooExpensive(let resource, let granted):
            "Processing the file needs more \(resource) than the limit of \(granted). Send a smaller or simpler file."
        case .capUnreachable(let rendition, let bytes, let cap, let advice):
            "The \(rendition) would have \(bytes) bytes; the profile's cap is \(cap). \(advice)"
        case .notInStore(let what):
            "\(what) is no longer stored. Submit it again."
        case .storeFailed(let reason):
            "The store failed: \(reason). Try again."
        case .storeFull, .scratchFull:
            "The store's disk is full. Free some space or inodes, then try again."
        case .scratchTooSmall(let needed, let size):
            "The job needs \(needed) bytes of scratch space, but this node's disk for it has \(size) in all. Give it a larger disk, or send less."
        case .storeUnusable(let reason):
            "The store can't be used: \(reason)."
        case .outOfResources:
            "Satchel is short of processes, open files or memory. Try again later."
        case .unreadable(let finding):
            finding.refusal
        case .codecCrashed:
            "The file could not be decoded: it broke its decoder. Export it anew, or convert it first."
        case .deadlineExceeded(let seconds):
            "Nothing was ready after \(Self.number(seconds)) s. Send a smaller file, or allow more time."
        case .withheld(let identifier, let code):
            "The attachment '\(identifier)' of the same strict job failed (\(code.rawValue)), so none was delivered. Correct that attachment, or use the mode lenient."
        case .queueFull:
            "Too many jobs are waiting. Try again later."
        case .quotaExceeded(let what, let used, let allowed):
            "Quota reached: \(used) of \(allowed) \(what.rawValue). \(what.passes ? "Try again later" : "Delete something"), or ask your administrator."
        case .rateLimited:
            "Too many requests. Try again later."
        case .handoverFailed(let reason):
            "The receiver of 'handover' did not accept the firing: \(reason). Repair the receiver, then repeat the call or fire again."
        case .superseded:
            "The notification was changed or removed before this firing was handed over. The next firing has the change."
        case .uploadIncomplete(let state):
            switch state {
            case .open, .complete, .consumed:
                "The upload is not complete. Submit this after 'upload.completed', or give the job when you open the upload."
            case .expired, .failed, .cancelled:
                "The upload is \(state.rawValue) and cannot be used. Open a new one and send the file again."
            }
        case .uploadConsumed:
            "This upload was already used, or has been deleted. Open a new one and send the file again."
        case .checksumMismatch:
            "The bytes don't match the announced checksum. Send the file again."
        case .rejectedByScan(let reason):
            "The scanner rejected this file: \(reason). Send another file."
        case .scanFailed(let reason):
            "The scanner gave no verdict on this file: \(reason). Try again later."
        case .decryptionFailed(let reason):
            "The source can't be decrypted: \(reason). Check that it is complete and that the key belongs to it, then submit it again."
        }
    }

    /// Of what no decoder took, by what libmagic says that it is.
    private static func unrecognized(_ sniffed: String?) -> String {
        if sniffed == ForeignFormat.emptyType { return "The file is empty. Send it again." }
        if let format = sniffed.flatMap(ForeignFormat.init(sniffed:)) {
            return "This is \(format.name), not a picture, sound or video. \(format.advice)"
        }
        if let sniffed, isText(sniffed) {
            return "This is text (\(sniffed)), not a picture, sound or video. \(ForeignFormat.Kind.other.advice)"
        }
        return
            "Not a supported picture, sound or video\(likeness(sniffed)). If it is a media file, convert it to JPEG, PNG, MP4 or MP3."
    }

    private static func isText(_ sniffed: String?) -> Bool { sniffed?.hasPrefix("text/") == true }

    /// ` (looks like text/html)`, or an empty string if the type says nothing.
    private static func likeness(_ sniffed: String?) -> String {
        sniffed.flatMap { $0 == "application/octet-stream" ? nil : " (looks like \($0))" } ?? ""
    }

    /// This error, of a file that was called `name` or declared as `type`: where no decoder took it, its name may tell what
    /// it is; where they promise what a decoder would have taken, that is what its sender should know.
    ///
    /// A file of few bytes is told that instead.
    public func ofFile(named name: String?, declared type: String?, bytes: Int64? = nil) -> AttachmentError {
        let error = named(name, declared: type)
        guard let bytes, (1..<100).contains(bytes) else { return error }
        switch error {
        case .unreadable: break
        case .tooExpensive(let resource, _) where resource.hasPrefix("memory"): break
        case .misnamed(_, let sniffed)
        where !Self.isText(sniffed) && sniffed.flatMap(ForeignFormat.init(sniffed:)) == nil:
            break
        default: return error
        }
        return .unreadable(Finding(.tooSmall, of: Double(bytes)))
    }

    private func named(_ name: String?, declared type: String?) -> AttachmentError {
        guard case .unrecognizedType(let sniffed) = self, sniffed != ForeignFormat.emptyType else { return self }
        let ending = name.flatMap { name in name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } }
        if let ending, let format = ForeignFormat(fileExtension: ending, sniffed: sniffed) {
            return format.refusalByName
        }
        // A type that nobody named an extension of is told by its usual one.
        if let ending, MediaType(declared: ending) != nil { return .misnamed(fileExtension: ending, sniffed: sniffed) }
        guard ending == nil, let promised = type.flatMap(MediaType.init(declared:)) else { return self }
        return .misnamed(fileExtension: promised.fileExtension, sniffed: sniffed)
    }

    /// What kept the origin from giving the file; `nil` where that isn't why.
    public var cause: FetchCause? {
        switch self {
        case .fetchFailed(let kind, let status, _): FetchCause(kind, status: status)
        case .fetchTimeout: FetchCause(.tooSlow)
        default: nil
        }
    }

    /// Whether the store itself failed, which says nothing about the source: its job waits for the store.
    public var isOfStore: Bool {
        switch self {
        case .storeFailed, .storeFull, .scratchFull, .storeUnusable: true
        default: false
        }
    }

    /// Whether another attempt at the same source can succeed. `codecCrashed` is retried once, in another zygote.
    public var isRetryable: Bool {
        if case .scratchTooSmall = self { return false }
        return code.isRetryable && cause?.isRetryable ?? true
    }

    private static func number(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int64(clampingTo: tenths)) : String(tenths)
    }
}

extension AttachmentError: CustomStringConvertible {
    /// For the log: the code, then every fact.
    public var description: String {
        switch self {
        case .codecCrashed(let reason), .outOfResources(let reason): "\(code.rawValue): \(reason)"
        case .blockedAddress(_, let address): "\(code.rawValue): \(message) (\(address))"
        default: "\(code.rawValue): \(message)"
        }
    }
}

/// The codes of the API's errors.
public enum ErrorCode: String, Hashable, Sendable, Codable, CaseIterable {
    case invalidSource = "invalid_source"
    case blockedAddress = "blocked_address"
    case fetchFailed = "fetch_failed"
    case fetchTimeout = "fetch_timeout"
    case unrecognizedType = "unrecognized_type"
    case unsupportedFeature = "unsupported_feature"
    case sourceTooLarge = "source_too_large"
    case tooManyPixels = "too_many_pixels"
    case tooManyFrames = "too_many_frames"
    case tooLong = "too_long"
    case tooExpensive = "too_expensive"
    case capUnreachable = "cap_unreachable"
    case notInStore = "not_in_store"
    case storeFailed = "store_failed"
    case storeFull = "store_full"
    case corrupt
    case undecodable
    case codecCrashed = "codec_crashed"
    case deadlineExceeded = "deadline_exceeded"
    case withheld
    case queueFull = "queue_full"
    case quotaExceeded = "quota_exceeded"
    case rateLimited = "rate_limited"
    case handoverFailed = "handover_failed"
    case superseded
    case uploadIncomplete = "upload_incomplete"
    case uploadConsumed = "upload_consumed"
    case checksumMismatch = "checksum_mismatch"
    case rejectedByScan = "rejected_by_scan"
    case scanFailed = "scan_failed"
    case decryptionFailed = "decryption_failed"

    /// The matching `UNError` code of Apple's UserNotifications, where there is one.
    public var unError: Int? {
        switch self {
        case .invalidSource: 100
        case .unrecognizedType, .unsupportedFeature: 101
        case .sourceTooLarge, .tooManyPixels, .tooManyFrames, .tooLong, .tooExpensive, .capUnreachable: 102
        case .notInStore: 103
        case .storeFailed, .storeFull: 104
        case .corrupt, .undecodable, .codecCrashed: 105
        case .blockedAddress, .fetchFailed, .fetchTimeout, .deadlineExceeded, .withheld, .queueFull, .quotaExceeded,
            .rateLimited, .handoverFailed, .superseded, .uploadIncomplete, .uploadConsumed, .checksumMismatch,
            .rejectedByScan, .scanFailed, .decryptionFailed:
            nil
        }
    }

    /// Whether the same bytes under the same profile would come to this again.
    public var blamesTheSource: Bool {
        switch self {
        case .invalidSource, .unrecognizedType, .unsupportedFeature, .sourceTooLarge, .tooManyPixels, .tooManyFrames,
            .tooLong, .tooExpensive, .capUnreachable, .corrupt, .undecodable, .rejectedByScan, .decryptionFailed:
            true
        case .blockedAddress, .fetchFailed, .fetchTimeout, .notInStore, .storeFailed, .storeFull, .codecCrashed,
            .deadlineExceeded, .withheld, .queueFull, .quotaExceeded, .rateLimited, .handoverFailed,
            .superseded, .uploadIncomplete, .uploadConsumed, .checksumMismatch, .scanFailed:
            false
        }
    }

    /// Whether it is a verdict about the bytes, which a command remembers. Everything else is tried again by the next run:
    /// permissions, the store, crashes and time.
    public var isVerdict: Bool { blamesTheSource && self != .invalidSource }

    /// Whether the service tries again by itself.
    public var isRetryable: Bool {
        switch self {
        case .fetchFailed, .fetchTimeout, .storeFailed, .storeFull, .codecCrashed, .scanFailed: true
        default: false
        }
    }
}

/// An error as a record shows it.
public struct ErrorReport: Hashable, Sendable, Codable {
    public var code: ErrorCode
    public var message: String
    @Nullable public var unError: Int?
    public var retryable: Bool
    @Nullable public var cause: FetchCause?

    /// - Parameter message: For the sender.
    public init(_ code: ErrorCode, message: String) {
        self.code = code
        self.message = message
        unError = code.unError
        retryable = code.isRetryable
    }

    public init(_ error: AttachmentError) {
        self.init(error.code, message: error.message)
        retryable = error.isRetryable
        cause = error.cause
    }
}

extension Int64 {
    /// The nearest integer; the bounds for what lies beyond them, zero for what is not a number.
    init(clampingTo value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 9.2e18 {
            self = .max
        } else if value <= -9.2e18 {
            self = .min
        } else {
            self = Int64(value)
        }
    }
}
