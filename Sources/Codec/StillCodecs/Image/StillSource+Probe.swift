import SatchelCore

extension StillSource {
    func probeResult(for order: WorkOrder) -> ProbeResult {
        let policies = ImagePolicies(order: order, kind: .image)
        var found = facts.found
        found.hasTransparency = facts.hasAlpha
        return ProbeResult(
            kind: .image, type: facts.type, sniffedType: facts.sniffedType, size: facts.size, note: facts.note,
            diagnosis: found, planned: policies.roles, estimate: facts.estimate(for: policies, of: order),
            forecasts: order.wantsForecasts
                ? policies.forecasts(of: facts.size, hasAlpha: facts.hasAlpha, keeping: facts) : [])
    }
}

extension StillFacts {
    /// `HEIC, 4032×3024, upright after rotation by 90°`.
    var note: String {
        var note = "\(type.format.name), \(size.width)×\(size.height)"
        if let turn = Self.turns[orientation] { note += ", upright after \(turn)" }
        if let sniffed = MediaType(declared: sniffedType), sniffed != type { note += ", sniffed as \(sniffedType)" }
        return note
    }

    private static let turns = [
        2: "mirroring", 3: "rotation by 180°", 4: "mirroring and rotation by 180°", 5: "mirroring and rotation by 270°",
        6: "rotation by 90°", 7: "mirroring and rotation by 90°", 8: "rotation by 270°",
    ]

    /// What an order will take.
    func estimate(for policies: ImagePolicies, of order: WorkOrder) -> Estimate {
        guard order.profile.speed == .best else { return estimate(for: policies, at: order.profile.speed) }
        return BestStill(self, policies).estimate(within: order.ceilings.memory)
    }

    /// What decoding and encoding will take, by what each decoder holds at its peak.
    func estimate(for policies: ImagePolicies, at speed: Speed) -> Estimate {
        let pixels = Double(storedSize.area)
        let kept = Double(policies.workingSize(of: policies.region(of: size).size).area)
        let held = cost?.memory(storedSize, pixelBytes: pixelBytes, samples: 1 + colourShare) ?? 0
        // libvips scales floats, of as many rows at once as ten of the result take.
        let factor = min(max(1, (pixels / max(1, kept)).squareRoot()), 2 * speed.gap)
        let rows = isScaledByPlanes(at: speed) ? 0 : Double(storedSize.width * 4 * 4) * (20 * factor + 20)
        // Decoding is over when something is kept; what else was decoded stays.
        let coefficients = memoryOfKeeping(for: policies)
        // The working picture and its copy while it is turned and stripped, then what the encoders add.
        // A numeric conversion holds the pixels as floats, twice.
        let working = kept * (coded == nil ? 14 : 14 + 36)
        let memory = Estimate.rest + Int64(max(held + rows, coefficients) + working) + Int64(bytes)
        return Estimate(memory: memory, cpuSeconds: seconds(keeping: kept, at: speed))
    }

    /// Processor seconds, with all settings and with those of ``ImagePolicies/reduced(for:)``.
    func cost(for policies: ImagePolicies, at speed: Speed) -> WorkCost {
        func cost(_ policies: ImagePolicies, _ speed: Speed) -> Double {
            seconds(keeping: Double(policies.workingSize(of: policies.region(of: size).size).area), at: speed)
        }
        return WorkCost(full: cost(policies, speed), reduced: cost(policies.reduced(for: size), .fast))
    }

    /// - Parameter kept: Pixels of the picture that all renditions are made from.
    private func seconds(keeping kept: Double, at speed: Speed) -> Double {
        let pixels = Double(storedSize.area)
        var nanoseconds = 0.0
        if !isScaledByPlanes(at: speed) {
            // libvips' floats; of bytes a third of that. Of a JPEG it interpolates and converts all colours besides.
            let isInFloats = hasAlpha || speed.scalesInFloats(to: PixelSize(width: Int(kept), height: 1))
            if kept < pixels { nanoseconds += isInFloats ? 13 : 4 }
            if type == .jpeg { nanoseconds += 8 }
        }
        let converting = coded == nil ? 0.0 : 100
        return 0.01 + (cost?.seconds(pixels, kept: kept) ?? 0)
            + (pixels * nanoseconds + kept * (60 + converting)) / 1e9
    }

    private var cost: DecodingCost? {
        isProgressive ? type.format.picture?.costInSeveralScans : type.format.picture?.cost
    }
}

extension Estimate {
    /// Bytes that any image needs: threads' stacks, the allocator's arenas, libvips' buffers.
    static let rest: Int64 = 192 << 20
}
