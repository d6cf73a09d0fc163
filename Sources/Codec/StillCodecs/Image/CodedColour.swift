import Glibc
package import SatchelCore

/// Colours that a file states by numbers, or by a profile that only HDR has, and their way to sRGB.
package struct CodedColour: Hashable, Sendable {
    private enum Curve: Hashable { case standard, power(Float), pq, hlg }

    private var curve = Curve.standard
    /// To the primaries of sRGB, row by row, in linear light; nil where they are the same or unknown.
    private var matrix: [Float]?

    /// `true` if the colors are sRGB, or unknown and therefore treated as sRGB.
    var isStandard: Bool { matrix == nil && curve == .standard }

    /// `true` if the colors are HDR: brighter than the white of a standard screen.
    var isHDR: Bool { curve == .pq || curve == .hlg }

    static let displayP3 = CodedColour(primaries: 12, transfer: 13)

    /// By code points of ITU-T H.273, tables 2 and 3. BT.709's curve and its relatives were graded on screens like those of
    /// sRGB.
    package init(primaries: Int, transfer: Int) {
        matrix = Self.chromaticities[primaries].flatMap(Self.matrix)
        curve =
            switch transfer {
            case 4: .power(2.2)
            case 5: .power(2.8)
            case 8: .power(1)
            case 16: .pq
            case 18: .hlg
            default: .standard
            }
    }

    /// By what a PNG's gAMA and cHRM hold, times 100,000; either may be missing (PNG 3, 11.3.2.1 and 11.3.2.2).
    init(gamma: Int?, chromaticities: [Int]?) {
        matrix = chromaticities.flatMap { Self.matrix($0.map { Double($0) / 100_000 }) }
        // What sRGB comes to, as that chunk can say it, and what says nothing.
        if let gamma, gamma > 0, abs(gamma - 45455) > 500 { curve = .power(100_000 / Float(gamma)) }
    }

    /// By a profile whose curves are PQ's or HLG's, which no color management shows; nil where they aren't.
    init?(profile: UnsafeRawBufferPointer) {
        guard let stated = unsafe ColourProfile.highRange(profile) else { return nil }
        self.init(primaries: stated.primaries ?? 2, transfer: stated.transfer)
        if !stated.colorants.isEmpty { matrix = Self.toStandard(stated.colorants) }
    }

    /// White, red, green and blue, x and y each.
    private static let chromaticities: [Int: [Double]] = [
        4: [0.310, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08],
        5: [0.3127, 0.3290, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06],
        6: [0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070],
        7: [0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070],
        9: [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046],
        11: [0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060],
        12: [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060],
        22: [0.3127, 0.3290, 0.630, 0.340, 0.295, 0.605, 0.155, 0.077],
    ]

    private typealias Rows = [Double]

    /// Light of sRGB's primaries and of a profile's connection space (D50), both ways.
    private static let standard: Rows = [
        0.4360747, 0.3850649, 0.1430804, 0.2225045, 0.7168786, 0.0606169, 0.0139322, 0.0971045, 0.7141733,
    ]

    /// Bradford's, by which whites are adapted (ICC.1:2022, annex E).
    private static let cones: Rows = [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296]

    private static func matrix(_ points: [Double]) -> [Float]? {
        func column(_ index: Int) -> Rows {
            [points[2 * index], points[2 * index + 1], 1 - points[2 * index] - points[2 * index + 1]]
        }
        guard points.count == 8, points[1] > 0 else { return nil }
        let white = column(0).map { $0 / points[1] }
        let columns = (1...3).map(column)
        let primaries: Rows = (0..<9).map { columns[$0 % 3][$0 / 3] }
        guard let weights = inverse(primaries).map({ product($0, white) }), let back = inverse(cones) else {
            return nil
        }
        let seen = product(cones, [0.9642, 1, 0.8249])
        let shown = product(cones, white)
        let gains = zip(seen, shown).map { $0 / $1 }
        let adapted: Rows = [gains[0], 0, 0, 0, gains[1], 0, 0, 0, gains[2]]
        let light: Rows = (0..<9).map { primaries[$0] * weights[$0 % 3] }
        return toStandard(product(product(product(back, adapted), cones), light))
    }

    /// Nil where the primaries are those of sRGB, as far as 8 bits show, or none.
    private static func toStandard(_ colorants: Rows) -> [Float]? {
        guard let rows = inverse(standard).map({ product($0, colorants) }) else { return nil }
        let same: Rows = [1, 0, 0, 0, 1, 0, 0, 0, 1]
        let isSame = zip(rows, same).allSatisfy { abs($0 - $1) < 0.004 }
        return isSame || !rows.allSatisfy(\.isFinite) ? nil : rows.map { Float($0) }
    }

    /// Of three rows and as many as `right` has columns.
    private static func product(_ left: Rows, _ right: Rows) -> Rows {
        let columns = right.count / 3
        var result = Rows(repeating: 0, count: right.count)
        for (row, column) in (0..<3).flatMap({ row in (0..<columns).map { (row, $0) } }) {
            for at in 0..<3 { result[row * columns + column] += left[row * 3 + at] * right[at * columns + column] }
        }
        return result
    }

    private static func inverse(_ m: Rows) -> Rows? {
        let minors: Rows = (0..<9).map { place in
            let (row, column) = (place % 3, place / 3)
            let (a, b) = ((row + 1) % 3 * 3, (row + 2) % 3 * 3)
            let (c, d) = ((column + 1) % 3, (column + 2) % 3)
            return m[a + c] * m[b + d] - m[a + d] * m[b + c]
        }
        let determinant = m[0] * minors[0] + m[1] * minors[3] + m[2] * minors[6]
        return abs(determinant) < 1e-9 ? nil : minors.map { $0 / determinant }
    }

    /// Nits of what was shot as white, in HDR: BT.2408.
    private static let white: Float = 203
    /// Nits that become the brightest sRGB has.
    private static let peak: Float = 1000

    /// Light as a part of white's.
    private func linear(_ value: Float) -> Float {
        switch curve {
        case .power(let exponent): return powf(value, exponent)
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

    /// Pixels of RGB, 0…1, coded so, as those of sRGB. What is no number is black.
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

extension Finding {
    /// HDR that was mapped to the range of sRGB.
    package static let hdr = Finding(.leftOut, .hdr, named: "the result")
    package static let gainMap = Finding(.leftOut, .gainMap, named: "the result")
}
