import Glibc

/// Colours given by code points (ITU-T H.273) instead of a profile, and their way to sRGB.
struct CodedColour: Hashable, Sendable {
    var primaries: Int
    var transfer: Int

    /// Whether sRGB is what they are, or what unknown ones are taken for. BT.709 and its relatives were graded on
    /// screens like those of sRGB.
    var isStandard: Bool { matrix == nil && curve == .standard }

    private enum Curve { case standard, linear, pq, hlg }

    private var curve: Curve {
        switch transfer {
        case 8: .linear
        case 16: .pq
        case 18: .hlg
        default: .standard
        }
    }

    /// To the primaries of sRGB, row by row, in linear light; nil where they are the same or unknown. From the
    /// chromaticities of H.273, table 2.
    private var matrix: [Float]? {
        switch primaries {
        case 9:
            [1.660491, -0.587641, -0.072850, -0.124550, 1.132900, -0.008349, -0.018151, -0.100579, 1.118730]
        case 12:
            [1.224940, -0.224940, 0, -0.042057, 1.042057, 0, -0.019638, -0.078636, 1.098274]
        default: nil
        }
    }

    /// Nits of what was shot as white, in HDR: BT.2408.
    private static let white: Float = 203
    /// Nits that become the brightest sRGB has.
    private static let peak: Float = 1000

    /// Light as a part of white's.
    private func linear(_ value: Float) -> Float {
        switch curve {
        case .linear: return value
        case .standard: return value <= 0.04045 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
        case .pq:
            // SMPTE ST 2084.
            let root = powf(value, 1 / 78.84375)
            let light = powf(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
            return light * 10_000 / Self.white
        case .hlg:
            // BT.2100: the camera's light, to which ``shown(_:)`` adds what a display of 1,000 nits does.
            return value <= 0.5 ? value * value / 3 : (expf((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
        }
    }

    /// Pixels of RGB, 0…1, coded so, as those of sRGB.
    ///
    /// What is brighter than sRGB's white is pressed into the upper half of its light; the lower half stays as it is.
    func standard(_ pixels: inout [Float], bands: Int) {
        guard bands >= 3, !isStandard else { return }
        // Values come in 8 or 16 bits.
        let steps = 4096
        let curve = curve
        let table = (0...steps).map { linear(Float($0) / Float(steps)) }
        let matrix = matrix
        for start in stride(from: 0, through: pixels.count - bands, by: bands) {
            var colour: (Float, Float, Float) = (
                Self.value(pixels[start], table), Self.value(pixels[start + 1], table),
                Self.value(pixels[start + 2], table)
            )
            if curve == .hlg {
                let luma = 0.2627 * colour.0 + 0.6780 * colour.1 + 0.0593 * colour.2
                let gain = powf(max(luma, 0), 0.2) * Self.peak / Self.white
                colour = (colour.0 * gain, colour.1 * gain, colour.2 * gain)
            }
            if curve == .hlg || curve == .pq {
                // By the brightest of the three, so that the hue stays.
                let most = max(colour.0, colour.1, colour.2)
                let gain = most > 0.5 ? Self.pressed(most) / most : 1
                colour = (colour.0 * gain, colour.1 * gain, colour.2 * gain)
            }
            if let matrix {
                colour = (
                    matrix[0] * colour.0 + matrix[1] * colour.1 + matrix[2] * colour.2,
                    matrix[3] * colour.0 + matrix[4] * colour.1 + matrix[5] * colour.2,
                    matrix[6] * colour.0 + matrix[7] * colour.1 + matrix[8] * colour.2
                )
            }
            pixels[start] = Self.coded(colour.0)
            pixels[start + 1] = Self.coded(colour.1)
            pixels[start + 2] = Self.coded(colour.2)
        }
    }

    /// Between the entries of a table over 0…1.
    private static func value(_ position: Float, _ table: [Float]) -> Float {
        let place = min(max(position, 0), 1) * Float(table.count - 1)
        let index = min(Int(place), table.count - 2)
        return table[index] + (table[index + 1] - table[index]) * (place - Float(index))
    }

    /// Reinhard's curve with a white point, above a knee at half of white, where both have the same slope.
    private static func pressed(_ light: Float) -> Float {
        let knee: Float = 0.5
        let most = (peak / white - knee) / (1 - knee)
        let over = min((light - knee) / (1 - knee), most)
        return knee + (1 - knee) * over * (1 + over / (most * most)) / (1 + over)
    }

    private static func coded(_ light: Float) -> Float {
        let light = min(max(light, 0), 1)
        return light <= 0.0031308 ? light * 12.92 : 1.055 * powf(light, 1 / 2.4) - 0.055
    }
}
