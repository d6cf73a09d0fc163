import Attachments

extension StillSource {
    func findings(for order: WorkOrder) -> Findings {
        let policies = ImagePolicies(order: order, kind: .image)
        return Findings(
            kind: .image, type: facts.type, sniffedType: facts.sniffedType, size: facts.size, note: facts.note,
            planned: policies.roles, estimate: facts.estimate(for: policies))
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
        let working = policies.workingSize(of: policies.region(of: size).size)
        let kept = Double(working.area)
        let held: Double
        let nanoseconds: Double
        switch type {
        // Strips, or all coefficients: two bytes for each of at most three samples.
        case .jpeg: (held, nanoseconds) = isProgressive ? (pixels * 6, 25) : (Double(storedSize.width) * 600, 9)
        case .png: (held, nanoseconds) = isProgressive ? (pixels * Double(pixelBytes), 30) : (0, 25)
        case .tiff: (held, nanoseconds) = (Double(storedSize.width) * 512 * Double(pixelBytes), 15)
        case .webp: (held, nanoseconds) = (pixels * 8, 25)
        // Planes with their reference, the interleaved picture, and the copy that libvips makes.
        case .heic, .heif, .avif: (held, nanoseconds) = (pixels * 10, 45)
        // Floats while it decodes.
        case .jxl: (held, nanoseconds) = (pixels * (Double(pixelBytes) + 16), 70)
        case .bmp: (held, nanoseconds) = (pixels * 12, 10)
        default: (held, nanoseconds) = (pixels * 5, 15)
        }
        // The working picture and its copy while it is turned and stripped, then what the encoders add.
        let memory = Estimate.rest + Int64(held + kept * 14) + Int64(bytes)
        return Estimate(memory: memory, cpuSeconds: 0.01 + (pixels * nanoseconds + kept * 60) / 1e9)
    }
}

extension Estimate {
    /// Bytes that any image needs: threads' stacks, the allocator's arenas, libvips' buffers.
    static let rest: Int64 = 192 << 20
}
