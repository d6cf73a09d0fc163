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

extension Finding {
    /// The finding without what could do harm in a log or on a page; a violation where its amounts are impossible.
    fileprivate func checked() throws(ProtocolViolation) -> Finding {
        guard isPlausible else { throw ProtocolViolation("an impossible finding") }
        var finding = self
        finding.name = name?.sanitized(60)
        finding.library = library?.sanitized(40)
        return finding
    }
}

extension Diagnosis {
    fileprivate func checked(as check: Check) throws(ProtocolViolation) -> Diagnosis {
        guard announced?.isPlausible ?? true, (pages ?? 1) > 0 else {
            throw ProtocolViolation("an impossible diagnosis")
        }
        var diagnosis = self
        diagnosis.checked = check
        diagnosis.tracks = tracks.prefix(32).map { track in
            var track = track
            track.coding = track.coding.sanitized(60)
            track.language = track.language?.sanitized(20)
            return track
        }
        for path in [\Diagnosis.evidence, \.omissions, \.losses, \.changes] {
            let found = self[keyPath: path].prefix(16)
            diagnosis[keyPath: path] = []
            for finding in found { diagnosis[keyPath: path].append(try finding.checked()) }
        }
        return diagnosis
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
        probeResult.diagnosis = try diagnosis.checked(as: .headers)
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
    /// Seconds by which what a clip holds may differ from its duration: priming, padding and a last frame.
    private static let slack = 0.5

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
            haste?.isPlausible ?? true
        else {
            throw ProtocolViolation("'\(role.rawValue)' has impossible sizes or times")
        }
        if role == .main, [.video, .audio].contains(probeResult.kind) {
            let kind: Diagnosis.Track.Kind = probeResult.kind == .video ? .video : .audio
            // Pictures may end long before their sound, and sound before its pictures.
            guard tracks.count <= 2, tracks.contains(where: { $0.kind == kind }),
                tracks.allSatisfy({ $0.packets > 0 && $0.end.isPlausible && $0.empty.isPlausible }),
                let end = tracks.map(\.end).max(), abs(end - (duration ?? 0)) < Self.slack
            else { throw ProtocolViolation("'\(role.rawValue)' doesn't hold what is reported") }
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
        if let placeholder {
            guard placeholder.color?.isColor ?? true, placeholder.peaks?.count ?? 0 <= 4096 else {
                throw ProtocolViolation("an impossible placeholder")
            }
        }
        var ending = self
        ending.diagnosis = try diagnosis.checked(as: .decoded)
        ending.placeholder?.thumbhash = placeholder?.thumbhash?.sanitized(100)
        ending.placeholder?.blurhash = placeholder?.blurhash?.sanitized(200)
        ending.warnings = warnings.prefix(32).map { $0.sanitized(300) }
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
        case .unreadable(let finding): return .unreadable(try finding.checked())
        case .codecCrashed(let reason): return .codecCrashed(reason: reason.sanitized(500))
        case .storeFailed(let reason): return .storeFailed(reason: reason.sanitized(300))
        // The disk may be full while a rendition is written.
        case .sourceTooLarge, .tooManyPixels, .sideTooLong, .tooManyFrames, .storeFull: return self
        default: throw ProtocolViolation("a refusal as '\(code.rawValue)'")
        }
    }
}
