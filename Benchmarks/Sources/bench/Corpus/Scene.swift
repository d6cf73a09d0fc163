import Foundation

/// A picture that is to codecs and scalers what a photograph is, without being one: its contents follow from a seed alone.
///
/// Leaves of all sizes lie over each other ("dead leaves": Lee, Mumford and Huang, 2001): shapes of one colour, shaded
/// and textured, whose number falls with the cube of their radius. That gives the edges, the areas and the spectrum
/// (1/f² in power) of natural pictures. A sky lies behind them, far leaves are out of focus, a lens softens all, and a
/// sensor adds noise: that of light, which grows with the square root of the brightness, and that of reading out.
struct Scene {
    /// What differs between exposures; the defaults are a landscape in poor light.
    struct Look: Hashable, Sendable {
        /// The deviation at middle brightness, of 255, that the camera's noise reduction leaves; nil for 1.6 to 3.2.
        var noise: Double?
        /// How far leaves out of focus are spread, in terms of the longest side.
        var defocus = 1.0 / 500
        /// How often leaves in focus would cover the picture.
        var coverage = 1.1
    }

    let width: Int
    let height: Int
    /// Red, green and blue of each pixel, row by row.
    let pixels: [UInt8]

    /// - Parameter unit: The picture's detail in terms of one of 12 megapixels: a small picture has the same leaves as a
    ///   large one, only smaller, and no smaller ones.
    init(width: Int, height: Int, look: Look = Look(), seed: UInt64, _ name: String, _ index: Int) {
        var random = SplitMix(seed: seed, name, index)
        var canvas = Canvas(width: width, height: height)
        canvas.paintSky(&random)
        let texture = Texture(&random)
        let longest = Double(max(width, height))
        let tones = Tones(&random)
        canvas.scatter(
            coverage: 1.5, radii: (longest / 150)...(longest / 5), tones, texture, contrast: 0.6, &random)
        canvas.blur(radius: max(1, Int(longest * look.defocus)))
        canvas.scatter(
            coverage: look.coverage, radii: max(1.5, longest / 800)...(longest / 5), tones, texture, contrast: 1,
            &random)
        canvas.blur(radius: 1)
        self.width = width
        self.height = height
        pixels = canvas.exposed(noise: look.noise ?? random.between(1.6, 3.2), &random)
    }

    /// As a file of the kind PPM.
    var ppm: Data { Self.ppm(width: width, height: height, pixels) }

    private static func ppm(width: Int, height: Int, _ pixels: [UInt8]) -> Data {
        Data("P6\n\(width) \(height)\n255\n".utf8) + Data(pixels)
    }

    /// The same, as small as the preview in a camera's file, as PPM.
    ///
    /// - Parameter side: Pixels of the longest side.
    func preview(side: Int) -> Data {
        let longest = max(width, height)
        let (w, h) = (max(1, width * side / longest), max(1, height * side / longest))
        var small = [UInt8](repeating: 0, count: w * h * 3)
        for y in 0..<h {
            let rows = y * height / h..<(y + 1) * height / h
            for x in 0..<w {
                let columns = x * width / w..<(x + 1) * width / w
                var sums = SIMD3<Int>.zero
                for row in rows {
                    for at in columns.map({ (row * width + $0) * 3 }) {
                        sums &+= SIMD3(Int(pixels[at]), Int(pixels[at + 1]), Int(pixels[at + 2]))
                    }
                }
                for plane in 0..<3 {
                    small[(y * w + x) * 3 + plane] = UInt8(sums[plane] / (rows.count * columns.count))
                }
            }
        }
        return Self.ppm(width: w, height: h, small)
    }
}

/// The colours that go together in one scene.
private struct Tones {
    private let tones: [(Float, Float, Float)]

    init(_ random: inout SplitMix) {
        let hue = random.unit()
        tones = (0..<24).map { index in
            let turn = 2 * Double.pi * (hue + random.normal() * 0.12 + (index % 5 == 0 ? 0.45 : 0))
            let light = 0.12 + 0.76 * random.unit()
            let strength = random.unit() * random.unit() * 0.25
            func channel(_ shift: Double) -> Float {
                Float(min(1, max(0, light + strength * cos(turn + shift))) * 255)
            }
            return (channel(0), channel(2 * .pi / 3), channel(4 * .pi / 3))
        }
    }

    func one(_ random: inout SplitMix) -> (Float, Float, Float) { tones[Int(random.next() % UInt64(tones.count))] }
}

/// What is painted on: red, green and blue one after the other, 0 to 255.
private struct Canvas {
    let width: Int
    let height: Int
    private var planes: [[Float]]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        planes = [[Float]](repeating: [Float](repeating: 0, count: width * height), count: 3)
    }

    mutating func paintSky(_ random: inout SplitMix) {
        let top = [random.between(60, 140), random.between(110, 180), random.between(160, 250)]
        let bottom = [random.between(150, 250), random.between(150, 240), random.between(140, 230)]
        for plane in 0..<3 {
            for y in 0..<height {
                let part = Double(y) / Double(height)
                let value = Float(top[plane] * (1 - part) + bottom[plane] * part)
                planes[plane].replaceSubrange(
                    y * width..<(y + 1) * width, with: repeatElement(value, count: width))
            }
        }
    }

    /// Leaves over the lower part of the picture, thinner above.
    ///
    /// - Parameters:
    ///   - coverage: How often they would cover the picture in all.
    ///   - radii: Of the smallest and the largest, in pixels.
    mutating func scatter(
        coverage: Double, radii: ClosedRange<Double>, _ tones: Tones, _ texture: Texture, contrast: Float,
        _ random: inout SplitMix
    ) {
        let (least, most) = (radii.lowerBound, radii.upperBound)
        var painted = 0.0
        let wanted = coverage * Double(width * height)
        while painted < wanted {
            // The inverse of the distribution whose density falls with the cube.
            let part = random.unit()
            let radius = 1 / sqrt((1 - part) / (least * least) + part / (most * most))
            let x = random.between(-radius, Double(width) + radius)
            // More of them further down.
            let y = (1 - random.unit() * sqrt(random.unit())) * (Double(height) + radius)
            painted += .pi * radius * radius
            // Small things stand out less from what they lie on than large ones do.
            let contrasts = Float(min(1, 0.18 + 25 * radius / Double(max(width, height))) * random.between(0.6, 1))
            let tone = mixed(tones.one(&random), contrasts, x: Int(x), y: Int(y))
            paint(
                Leaf(
                    x: x, y: y, radius: radius, flatness: random.between(0.4, 1), angle: random.unit() * .pi,
                    isBox: random.unit() < 0.3, tone: tone,
                    shade: (Float(random.normal() * 25 / radius), Float(random.normal() * 25 / radius)),
                    roughness: Float(random.unit() * random.unit() * 22) * contrast,
                    offset: Int(random.next() % UInt64(Texture.side * Texture.side))), texture)
        }
    }

    /// A colour, drawn towards that which is there.
    private func mixed(_ tone: (Float, Float, Float), _ part: Float, x: Int, y: Int) -> (Float, Float, Float) {
        let place = max(0, min(height - 1, y)) * width + max(0, min(width - 1, x))
        func channel(_ plane: Int, _ value: Float) -> Float { planes[plane][place] * (1 - part) + value * part }
        return (channel(0, tone.0), channel(1, tone.1), channel(2, tone.2))
    }

    private struct Leaf {
        var x: Double
        var y: Double
        var radius: Double
        var flatness: Double
        var angle: Double
        var isBox: Bool
        var tone: (Float, Float, Float)
        var shade: (Float, Float)
        var roughness: Float
        var offset: Int
    }

    private mutating func paint(_ leaf: Leaf, _ texture: Texture) {
        let rows = max(0, Int(leaf.y - leaf.radius))..<max(0, min(height, Int(leaf.y + leaf.radius) + 1))
        guard rows.lowerBound < rows.upperBound else { return }
        let (sine, cosine) = (Float(sin(leaf.angle)), Float(cos(leaf.angle)))
        let (radius, other) = (Float(leaf.radius), Float(leaf.radius * leaf.flatness))
        let columns = max(0, Int(leaf.x - leaf.radius))..<max(0, min(width, Int(leaf.x + leaf.radius) + 1))
        let mask = Texture.side * Texture.side - 1
        let tones = [leaf.tone.0, leaf.tone.1, leaf.tone.2]
        for y in rows {
            let dy = Float(Double(y) - leaf.y)
            // The part of the row that is inside, from the shape's equation.
            var inside = columns.upperBound..<columns.upperBound
            for x in columns where contains(Float(Double(x) - leaf.x), dy, sine, cosine, radius, other, leaf.isBox) {
                inside = x..<columns.upperBound
                break
            }
            guard inside.lowerBound < inside.upperBound else { continue }
            var last = inside.lowerBound
            for x in columns.reversed()
            where contains(Float(Double(x) - leaf.x), dy, sine, cosine, radius, other, leaf.isBox) {
                last = x
                break
            }
            let start = y * width
            for plane in 0..<3 {
                let base = tones[plane] + dy * leaf.shade.1
                let strength = leaf.roughness * (plane == 1 ? 1 : 0.9)
                for x in inside.lowerBound...max(inside.lowerBound, last) {
                    let place = (leaf.offset &+ y &* Texture.side &+ x) & mask
                    let value = base + (Float(x) - Float(leaf.x)) * leaf.shade.0 + strength * texture.values[place]
                    planes[plane][start + x] = value
                }
            }
        }
    }

    private func contains(
        _ dx: Float, _ dy: Float, _ sine: Float, _ cosine: Float, _ radius: Float, _ other: Float, _ isBox: Bool
    ) -> Bool {
        let along = (dx * cosine + dy * sine) / radius
        let across = (dy * cosine - dx * sine) / other
        return isBox ? abs(along) < 0.7 && abs(across) < 0.7 : along * along + across * across < 1
    }

    /// The mean over a square, twice: what is out of focus, and what every lens and sensor soften.
    mutating func blur(radius: Int) {
        for plane in 0..<3 {
            for _ in 0..<2 {
                Self.blurRows(&planes[plane], width: width, height: height, radius: radius)
                Self.blurColumns(&planes[plane], width: width, height: height, radius: radius)
            }
        }
    }

    private static func blurRows(_ plane: inout [Float], width: Int, height: Int, radius: Int) {
        let share = 1 / Float(2 * radius + 1)
        var row = [Float](repeating: 0, count: width)
        for y in 0..<height {
            let start = y * width
            for x in 0..<width { row[x] = plane[start + x] }
            var sum = row[0] * Float(radius + 1)
            for x in 1...radius { sum += row[min(width - 1, x)] }
            for x in 0..<width {
                plane[start + x] = sum * share
                sum += row[min(width - 1, x + radius + 1)] - row[max(0, x - radius)]
            }
        }
    }

    private static func blurColumns(_ plane: inout [Float], width: Int, height: Int, radius: Int) {
        let share = 1 / Float(2 * radius + 1)
        let source = plane
        var sums = (0..<width).map { source[$0] * Float(radius + 1) }
        for y in 1...radius {
            let start = min(height - 1, y) * width
            for x in 0..<width { sums[x] += source[start + x] }
        }
        for y in 0..<height {
            let (start, added, left) = (
                y * width, min(height - 1, y + radius + 1) * width, max(0, y - radius) * width
            )
            for x in 0..<width {
                plane[start + x] = sums[x] * share
                sums[x] += source[added + x] - source[left + x]
            }
        }
    }

    /// As a sensor sees it.
    ///
    /// - Parameter noise: The deviation at middle brightness, of 255.
    func exposed(noise: Double, _ random: inout SplitMix) -> [UInt8] {
        // A table of numbers, begun at another place in each row: no two rows are alike.
        let table = (0..<1 << 16).map { _ in Float(random.normal()) }
        var pixels = [UInt8](repeating: 0, count: width * height * 3)
        let strength = Float(noise)
        for y in 0..<height {
            var place = Int(random.next() & 0xFFFF)
            for x in 0..<width {
                let index = y * width + x
                // The camera's own noise reduction leaves mostly what all channels have in common.
                let common = table[place & 0xFFFF]
                for plane in 0..<3 {
                    let value = planes[plane][index]
                    let own = table[(place &+ 7919 &* (plane &+ 1)) & 0xFFFF]
                    let light = 0.4 + 0.6 * (max(0, value) / 128).squareRoot()
                    let seen = value + strength * light * (0.85 * common + 0.5 * own)
                    pixels[index * 3 + plane] = UInt8(max(0, min(255, seen + 0.5)))
                }
                place &+= 1
            }
        }
        return pixels
    }
}
