import Attachments

extension StillSource {
    func probeResult(for order: WorkOrder) -> ProbeResult {
        let policies = ImagePolicies(order: order, kind: .image)
        return ProbeResult(
            kind: .image, type: facts.type, sniffedType: facts.sniffedType, size: facts.size, note: facts.note,
            planned: policies.roles, estimate: facts.estimate(for: policies),
            forecasts: order.wantsForecasts ? policies.forecasts(of: facts.size, hasAlpha: facts.hasAlpha) : [])
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

    /// What decoding and encoding will take, by what each decoder holds at its peak.
    func estimate(for policies: ImagePolicies) -> Estimate {
        let kept = Double(policies.workingSize(of: policies.region(of: size).size).area)
        let held = cost?.memory(storedSize, pixelBytes: pixelBytes, samples: 1 + colourShare) ?? 0
        // The working picture and its copy while it is turned and stripped, then what the encoders add.
        let memory = Estimate.rest + Int64(held + kept * 14) + Int64(bytes)
        return Estimate(memory: memory, cpuSeconds: seconds(keeping: kept))
    }

    /// Processor seconds, with all settings and with those of ``ImagePolicies/reduced(for:)``.
    func cost(for policies: ImagePolicies) -> WorkCost {
        func cost(_ policies: ImagePolicies) -> Double {
            seconds(keeping: Double(policies.workingSize(of: policies.region(of: size).size).area))
        }
        return WorkCost(full: cost(policies), reduced: cost(policies.reduced(for: size)))
    }

    /// - Parameter kept: Pixels of the picture that all renditions are made from.
    private func seconds(keeping kept: Double) -> Double {
        0.01 + (cost?.seconds(Double(storedSize.area), kept: kept) ?? 0) + kept * 60 / 1e9
    }

    private var cost: DecodingCost? {
        isProgressive ? type.format.picture?.costInSeveralScans : type.format.picture?.cost
    }
}

extension Estimate {
    /// Bytes that any image needs: threads' stacks, the allocator's arenas, libvips' buffers.
    static let rest: Int64 = 192 << 20
}
