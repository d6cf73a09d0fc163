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
        var note = "\(type.imageName), \(size.width)×\(size.height)"
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
        let pixels = Double(storedSize.area)
        let kept = Double(policies.workingSize(of: policies.region(of: size).size).area)
        let held: Double =
            switch type {
            // Strips, or all coefficients: two bytes for each sample.
            case .jpeg: isProgressive ? pixels * 2 * (1 + colourShare) : Double(storedSize.width) * 600
            case .png: isProgressive ? pixels * Double(pixelBytes) : 0
            case .tiff: Double(storedSize.width) * 512 * Double(pixelBytes)
            case .webp: pixels * 8
            // Planes with their reference, the interleaved picture, and the copy that libvips makes.
            case .heic, .heif, .avif: pixels * 10
            // Floats while it decodes.
            case .jxl: pixels * (Double(pixelBytes) + 16)
            // What is shown, and its copies for libvips.
            case .bmp, .gif: pixels * 12
            default: pixels * 5
            }
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
        let pixels = Double(storedSize.area)
        let nanoseconds: Double =
            switch type {
            // Each halving of the sides in the decoder saves a part of the transform; what is left is Huffman's.
            case .jpeg: (isProgressive ? 22 : 5) + min(6, 24 * kept / pixels)
            case .png: isProgressive ? 24 : 20
            case .tiff: 15
            case .webp: 25
            case .heic, .heif, .avif: 45
            case .jxl: 70
            // Through FFmpeg's scaler, and copied twice.
            case .bmp: 40
            default: 15
            }
        return 0.01 + (pixels * nanoseconds + kept * 60) / 1e9
    }
}

extension Estimate {
    /// Bytes that any image needs: threads' stacks, the allocator's arenas, libvips' buffers.
    static let rest: Int64 = 192 << 20
}
