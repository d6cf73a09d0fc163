import SatchelCore
import Platform

// What a codec process says is believed only as far as it can be checked: by then it may be the sender's, not ours.

/// A reason to end a conversation: the process broke the protocol.
struct ProtocolViolation: Error, Hashable {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    var error: AttachmentError { .codecCrashed(reason: "broke the protocol: \(reason)") }
}

extension String {
    /// `#` and six hexadecimal digits.
    fileprivate var isColor: Bool {
        utf8.count == 7 && utf8.first == UInt8(ascii: "#") && dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

extension PixelSize {
    fileprivate var isPlausible: Bool {
        (1...1_000_000).contains(width) && (1...1_000_000).contains(height)
    }
}

extension Double {
    /// A length of time in seconds: finite and not negative.
    fileprivate var isPlausible: Bool { isFinite && self >= 0 }
}

extension Shortfall {
    fileprivate var isPlausible: Bool {
        switch self {
        case .estimate(let needed, let left), .pace(let needed, let left): needed.isPlausible && left.isPlausible
        case .timeUp, .undecodable: true
        }
    }
}

extension ProbeResult {
    /// The probe result without what could do harm in a log or on a page.
    func checked(for order: WorkOrder) throws(ProtocolViolation) -> ProbeResult {
        let isPicture = type.format.picture != nil
        guard isPicture == (kind == .image || kind == .animation) else {
            throw ProtocolViolation("'\(type.rawValue)' is no type of \(kind.plural)")
        }
        guard size?.isPlausible ?? true, duration?.isPlausible ?? true, seconds.isPlausible, frames ?? 0 >= 0 else {
            throw ProtocolViolation("a probe result with impossible sizes or times")
        }
        guard estimate.memory >= 0, estimate.cpuSeconds.isPlausible else {
            throw ProtocolViolation("an impossible estimate")
        }
        guard Set(planned).count == planned.count else { throw ProtocolViolation("a rendition is planned twice") }
        for role in planned where order.profile.cap(of: role, for: kind) == nil {
            throw ProtocolViolation("'\(role.rawValue)' is planned, which the profile doesn't make of \(kind.plural)")
        }
        guard forecasts.count <= planned.count, Set(forecasts.map(\.role)).isSubset(of: planned),
            forecasts.allSatisfy({ $0.size?.isPlausible ?? true && $0.duration?.isPlausible ?? true })
        else { throw ProtocolViolation("impossible forecasts") }
        var probeResult = self
        probeResult.forecasts = forecasts.map { forecast in
            var forecast = forecast
            forecast.note = forecast.note.sanitized(500)
            return forecast
        }
        probeResult.note = note.sanitized(500)
        probeResult.sniffedType = sniffedType.sanitized(127)
        return probeResult
    }
}

extension RenditionReport {
    /// - Parameter actual: Bytes of the file, as the kernel says.
    func checked(for order: WorkOrder, probeResult: ProbeResult, actual: Int64) throws(ProtocolViolation)
        -> RenditionReport
    {
        guard bytes == actual, bytes > 0 else {
            throw ProtocolViolation("'\(role.rawValue)' is reported with \(bytes) bytes and has \(actual)")
        }
        if let cap = order.profile.cap(of: role, for: probeResult.kind), bytes > cap {
            throw ProtocolViolation("'\(role.rawValue)' has \(bytes) bytes, over its cap of \(cap)")
        }
        guard order.profile.types(of: role, for: probeResult).contains(type) else {
            throw ProtocolViolation("'\(role.rawValue)' is reported as '\(type.rawValue)'")
        }
        guard size?.isPlausible ?? true, duration?.isPlausible ?? true, seconds.isPlausible,
            shortfall?.isPlausible ?? true
        else {
            throw ProtocolViolation("'\(role.rawValue)' has impossible sizes or times")
        }
        var report = self
        report.note = note.sanitized(500)
        return report
    }
}

extension Profile {
    /// What a rendition may be.
    fileprivate func types(of role: RenditionRole, for probeResult: ProbeResult) -> Set<MediaType> {
        switch (role, probeResult.kind) {
        case (.main, .image): Set(image?.types ?? [])
        case (.main, .animation): Set([animation?.type].compactMap(\.self) + (image?.types ?? []))
        case (.main, .video): Set([video?.type].compactMap(\.self))
        case (.main, .audio): Set(audio?.types ?? [])
        case (.thumbnail, _), (.poster, _), (.waveform, _): [.jpeg, .png]
        case (.original, _): [probeResult.type]
        }
    }
}

extension Ending {
    func checked() throws(ProtocolViolation) -> Ending {
        if let trim {
            let times = [trim.start, trim.duration, trim.sourceDuration]
            guard times.allSatisfy(\.isPlausible) else { throw ProtocolViolation("an impossible trim") }
        }
        guard thumbnailClippingRect?.isValid ?? true, thumbnailTime?.isPlausible ?? true else {
            throw ProtocolViolation("impossible display options")
        }
        guard omissions.values.allSatisfy(\.isPlausible) else { throw ProtocolViolation("an impossible omission") }
        if let placeholder {
            guard placeholder.color?.isColor ?? true, placeholder.peaks?.count ?? 0 <= 4096 else {
                throw ProtocolViolation("an impossible placeholder")
            }
        }
        var ending = self
        ending.placeholder?.thumbhash = placeholder?.thumbhash?.sanitized(100)
        ending.placeholder?.blurhash = placeholder?.blurhash?.sanitized(200)
        ending.warnings = warnings.prefix(32).map { $0.sanitized(300) }
        ending.losses = losses.prefix(16).map { Loss($0.what.sanitized(150), because: $0.reason.sanitized(150)) }
        ending.notes = notes.prefix(16).map { $0.sanitized(200) }
        return ending
    }
}

extension AttachmentError {
    /// The refusal without what could do harm; a violation where refusing for that reason isn't a codec's business.
    func checkedRefusal() throws(ProtocolViolation) -> AttachmentError {
        switch self {
        case .invalidSource(let reason): return .invalidSource(reason: reason.sanitized(300))
        case .unrecognizedType(let sniffed): return .unrecognizedType(sniffed: sniffed?.sanitized(127))
        case .misnamed(let fileExtension, let sniffed):
            return .misnamed(fileExtension: fileExtension.sanitized(20), sniffed: sniffed?.sanitized(127))
        case .unsupportedFeature(let reason, let advice):
            return .unsupportedFeature(reason: reason.sanitized(200), advice: advice.sanitized(200))
        case .unacceptedKind(let kind, let profile):
            return .unacceptedKind(kind: kind, profile: profile.sanitized(100))
        case .tooLong(let seconds, let limit):
            guard seconds.isPlausible, limit.isPlausible else { throw ProtocolViolation("an impossible refusal") }
            return self
        case .tooMuch(let what, let count, let limit):
            return .tooMuch(what: what.sanitized(100), count: count, limit: limit)
        case .tooExpensive(let resource, let granted):
            return .tooExpensive(resource: resource.sanitized(50), granted: granted.sanitized(50))
        case .capUnreachable(let rendition, let bytes, let cap, let advice):
            return .capUnreachable(
                rendition: rendition.sanitized(50), bytes: bytes, cap: cap, advice: advice.sanitized(300))
        case .corrupt(let reason): return .corrupt(reason: reason.sanitized(300))
        case .codecCrashed(let reason): return .codecCrashed(reason: reason.sanitized(500))
        case .storeFailed(let reason): return .storeFailed(reason: reason.sanitized(300))
        // The disk may be full while a rendition is written.
        case .sourceTooLarge, .tooManyPixels, .sideTooLong, .tooManyFrames, .storeFull: return self
        default: throw ProtocolViolation("a refusal as '\(code.rawValue)'")
        }
    }
}
