import CScaling

/// What the values of a row are: 0…255, 0…65,535, or anything.
enum RowFormat: Hashable, Sendable {
    case bytes
    case shorts
    case floats

    /// Of a value.
    var size: Int {
        switch self {
        case .bytes: 1
        case .shorts: 2
        case .floats: 4
        }
    }
}

/// Scales a picture, or one plane of it, whose rows come in order: down first, each time by all rows that came, and what
/// is complete then across. In floats from the first to the last step.
@safe
struct RowScaler {
    /// Bytes that a buffer of rows needs behind the last of them.
    static let slack = 128

    private let across: LanczosWeights
    private let down: LanczosWeights
    private let format: RowFormat
    private let bands: Int
    private let hasAlpha: Bool
    /// Values in a row of the source.
    private let count: Int
    /// Of ``sums``: whole vectors, and what is read behind the end.
    private let stride: Int
    /// Rows of the result that have begun and are not in ``result`` yet, in a ring.
    private var sums: [Float]
    private let slots: Int
    /// How many rows are scaled across at once.
    private let group: Int
    private var lines: [Float]
    /// The rows that came, where they are no bytes, or have alpha.
    private var floats: [Float] = []
    /// Rows of the result: the first that is not in ``result``, and the first that has not begun.
    private var (oldest, next) = (0, 0)
    /// The rows of the result without gaps.
    private(set) var result: [UInt8]

    /// - Parameters:
    ///   - bands: Of them the last is alpha where `hasAlpha`.
    ///   - chunk: The most rows that come at once; all but the last time as many.
    init(
        across: LanczosWeights, down: LanczosWeights, format: RowFormat, bands: Int, hasAlpha: Bool = false, chunk: Int
    ) {
        self.across = across
        self.down = down
        self.format = format
        self.bands = bands
        self.hasAlpha = hasAlpha
        count = across.length * bands
        stride = (count + 31) / 32 * 32 + 8
        group = bands == 1 ? 4 : 1
        slots = down.overlap(chunk: chunk) + group - 1
        sums = [Float](repeating: 0, count: stride * slots)
        lines = [Float](repeating: 0, count: across.count * bands * group)
        if format != .bytes || hasAlpha { floats = [Float](repeating: 0, count: stride * chunk) }
        result = [UInt8](repeating: 0, count: across.count * bands * format.size * down.count)
    }

    /// Whether all rows that count have come.
    var isComplete: Bool { oldest == down.count }

    /// Takes the next rows.
    ///
    /// - Parameters:
    ///   - source: The rows, each `stride` bytes behind the one before, and ``slack``.
    ///   - rows: Which ones they are.
    mutating func add(_ source: UnsafeBufferPointer<UInt8>, stride rowBytes: Int, rows: Range<Int>) {
        while next < down.count, down.starts[next] < rows.upperBound {
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                unsafe sums.extracting(next % slots * stride..<(next % slots + 1) * stride).update(repeating: 0)
            }
            next += 1
        }
        let isConverted = !floats.isEmpty
        if isConverted, oldest < next { unsafe convert(source, rowBytes, rows.count) }
        for index in oldest..<next {
            let start = Int(down.starts[index])
            let first = max(start, rows.lowerBound)
            let part = min(start + Int(down.counts[index]), rows.upperBound) - first
            // What is complete waits for others of its group.
            guard part > 0 else { continue }
            let skipped = first - rows.lowerBound
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                unsafe down.weights.withUnsafeBufferPointer { weights in
                    guard let weights = weights.baseAddress, let sums = sums.baseAddress,
                        let source = source.baseAddress
                    else { return }
                    let sum = unsafe sums + index % slots * stride
                    let weight = unsafe weights + index * down.taps + first - start
                    if isConverted {
                        unsafe floats.withUnsafeBufferPointer { floats in
                            guard let floats = floats.baseAddress else { return }
                            unsafe satchel_rows_add_floats(
                                floats + skipped * stride, stride, Int32(part), weight, sum, count)
                        }
                    } else {
                        unsafe satchel_rows_add_bytes(
                            source + skipped * rowBytes, rowBytes, Int32(part), weight, sum, count)
                    }
                }
            }
        }
        finish(until: rows.upperBound)
    }

    /// The rows as floats, with their colours multiplied by alpha.
    private mutating func convert(_ source: UnsafeBufferPointer<UInt8>, _ rowBytes: Int, _ rows: Int) {
        unsafe floats.withUnsafeMutableBufferPointer { floats in
            guard let floats = floats.baseAddress, let source = source.baseAddress else { return }
            for row in 0..<rows {
                let from = unsafe source + row * rowBytes
                let to = unsafe floats + row * stride
                switch format {
                case .bytes: unsafe satchel_row_from_bytes(from, to, count)
                case .shorts: unsafe satchel_row_from_shorts(from, to, count)
                case .floats: unsafe satchel_row_from_floats(from, to, count)
                }
                if hasAlpha { unsafe satchel_row_premultiply(to, count / bands, Int32(bands)) }
            }
        }
    }

    /// Puts the sums that are complete with the rows before `end` into the result, a group at a time.
    private mutating func finish(until end: Int) {
        var complete = oldest
        while complete < next, Int(down.starts[complete] + down.counts[complete]) <= end { complete += 1 }
        while complete - oldest >= group || (complete == down.count && oldest < complete) {
            let rows = min(group, complete - oldest)
            scaleAcross(rows)
            oldest += rows
        }
    }

    private mutating func scaleAcross(_ rows: Int) {
        let length = across.count * bands
        unsafe sums.withUnsafeBufferPointer { sums in
            unsafe lines.withUnsafeMutableBufferPointer { lines in
                unsafe across.weights.withUnsafeBufferPointer { weights in
                    guard let sums = sums.baseAddress, let lines = lines.baseAddress, let weights = weights.baseAddress
                    else { return }
                    // Where there are fewer than a group, the last one stands in.
                    func row(_ index: Int) -> UnsafePointer<Float> {
                        unsafe sums + (oldest + min(index, rows - 1)) % slots * stride
                    }
                    if group == 4 {
                        unsafe satchel_lines_convolve(
                            row(0), row(1), row(2), row(3), across.starts, across.counts, weights, Int32(across.taps),
                            lines, length, Int32(across.count))
                    } else {
                        unsafe satchel_row_convolve(
                            row(0), Int32(bands), across.starts, across.counts, weights, Int32(across.taps), lines,
                            Int32(across.count))
                    }
                }
            }
        }
        for row in 0..<rows { write(row, length, as: oldest + row) }
    }

    /// Writes a line into the result.
    private mutating func write(_ row: Int, _ length: Int, as index: Int) {
        unsafe lines.withUnsafeMutableBufferPointer { lines in
            unsafe result.withUnsafeMutableBufferPointer { result in
                guard let lines = lines.baseAddress, let result = result.baseAddress else { return }
                let line = unsafe lines + row * length
                // Half a step of 8 or 16 bits; in floats alpha's own range isn't known.
                let least: Float = format == .floats ? 1e-6 : 0.5
                if hasAlpha { unsafe satchel_row_unpremultiply(line, across.count, Int32(bands), least) }
                let to = unsafe result + index * length * format.size
                switch format {
                case .bytes: unsafe satchel_row_to_bytes(line, to, length)
                case .shorts: unsafe satchel_row_to_shorts(line, to, length)
                case .floats: unsafe satchel_row_to_floats(line, to, length)
                }
            }
        }
    }
}
