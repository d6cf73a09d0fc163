/// Noise whose power falls with the square of the frequency, as that of photographs does; it continues at its edges.
struct Texture: Sendable {
    /// A power of two.
    static let side = 512

    /// Of mean 0 and deviation 1, row by row.
    let values: [Float]

    /// Octaves of the same strength, each of random values on a grid with straight lines between them.
    init(_ random: inout SplitMix) {
        let side = Self.side
        var sum = [Float](repeating: 0, count: side * side)
        var grid = 4
        while grid <= side {
            let points = (0..<grid * grid).map { _ in Float(random.normal()) }
            let step = side / grid
            for y in 0..<side {
                let (row, down) = (y / step, Float(y % step) / Float(step))
                let next = (row + 1) % grid
                for x in 0..<side {
                    let (column, right) = (x / step, Float(x % step) / Float(step))
                    let after = (column + 1) % grid
                    let upper = points[row * grid + column] * (1 - right) + points[row * grid + after] * right
                    let lower = points[next * grid + column] * (1 - right) + points[next * grid + after] * right
                    sum[y * side + x] += upper * (1 - down) + lower * down
                }
            }
            grid *= 2
        }
        let count = Float(sum.count)
        let mean = sum.reduce(0, +) / count
        let deviation = (sum.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count).squareRoot()
        values = sum.map { ($0 - mean) / deviation }
    }
}
