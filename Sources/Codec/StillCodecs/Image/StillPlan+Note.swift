import SatchelCore

extension StillPlan {
    /// What was done and why, for a person: `JPEG quality 71, 2 encodes, because 1900000 bytes at 82 were over the aim of
    /// 500000`.
    var note: String {
        guard let best else { return "" }
        let encodes = attempts.count == 1 ? "1 encode" : "\(attempts.count) encodes"
        return ([best.attempt.name, encodes] + reasons(best)).joined(separator: ", ")
    }

    private func reasons(_ best: Made) -> [String] {
        let attempt = best.attempt
        var reasons: [String] = []
        if attempt.size != size { reasons.append("\(attempt.size.width)×\(attempt.size.height)") }
        if let rival, best == attempts.first { reasons.append("as PNG \(rival.bytes) bytes") }
        if best == rival, attempt.form == .displayP3, attempts.first?.attempt.form == .truecolour {
            reasons.append("because sRGB would change its colours")
        } else if best == rival, let first = attempts.first {
            let other = "\(first.attempt.type.format.name) \(first.attempt.manner)"
            reasons.append("because \(other) takes \(first.bytes) bytes")
        }
        let isOverAim = policy.aim.map { best.bytes > $0 } ?? false
        if isOverAim, let aim = policy.aim {
            reasons.append("over the \(policy.aimWords(aim)) bytes\(whyOverAim(best))")
        } else if best == rival {
            // What it was compared with is enough.
        } else if let first = attempts.first, first.attempt != attempt {
            // Which limit forced it: of two the one that was passed.
            let isAim = policy.aim != nil && (first.bytes <= policy.cap || best.bytes <= aim)
            let limit = isAim ? policy.aimWords(aim) : "cap of \(policy.cap)"
            reasons.append("because \(first.bytes) bytes \(first.attempt.manner) were over the \(limit)")
        } else if let expectedTruecolour {
            reasons.append("because about \(expectedTruecolour) bytes in all colours were over the aim of \(aim)")
        } else if let aim = policy.aim {
            reasons.append("under the \(policy.aimWords(aim)) bytes")
        } else {
            reasons.append("under the cap of \(policy.cap) bytes")
        }
        if attempt.isBounded { reasons.append("so few pixels that it cannot be over the cap") }
        return reasons
    }

    /// What stood against the aim.
    private func whyOverAim(_ best: Made) -> String {
        let attempt = best.attempt
        if best == rival {
            return " because JPEG of quality \(policy.floorQuality), the profile's lowest, takes more"
        }
        let isLossy = attempt.quality != nil
        let lowest =
            isLossy ? "quality \(policy.floorQuality) is the profile's lowest" : "PNG has nothing below 256 colours"
        let isAtLowest = attempt.size == size && (!isLossy || attempt.quality == policy.floorQuality)
        return " because \(lowest)" + (isAtLowest ? "" : ", which only the cap of \(policy.cap) overrules")
    }
}

extension StillPolicy {
    fileprivate func aimWords(_ bytes: Int64) -> String { (aimsAtSource ? "source's " : "aim of ") + "\(bytes)" }
}

extension StillAttempt {
    fileprivate var name: String {
        switch form {
        case .quality(let quality):
            "\(type == .jpeg ? "JPEG" : "WebP") quality \(quality)" + (chroma == .full ? " in 4:4:4" : "")
        case .truecolour: "PNG"
        case .displayP3: "PNG in Display P3"
        case .palette: "PNG with 256 colours"
        case .plain: "lossless WebP"
        }
    }

    fileprivate var manner: String {
        switch form {
        case .quality(let quality): "at \(quality)" + (chroma == .full ? " in 4:4:4" : "")
        case .truecolour: "in all colours"
        case .displayP3: "in Display P3"
        case .palette: "with 256 colours"
        case .plain: "without loss"
        }
    }
}
