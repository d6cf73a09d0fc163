import CScaling

/// Scales a picture of bytes without alpha, or one plane of it, whose rows come in order: down first, each time by all rows
/// that came, and what is complete then across. In floats from the first to the last step.
@safe
struct RowScaler {
    /// Bytes that a buffer of rows needs behind the last of them.
    static let slack = 128

    private let across: LanczosWeights
    private let down: LanczosWeights
    private let bands: Int
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
    /// Rows of the result: the first that is not in ``result``, and the first that has not begun.
    private var (oldest, next) = (0, 0)
    /// The rows of the result without gaps.
    private(set) var result: [UInt8]

    /// - Parameters:
    ///   - bands: 1 or 3.
    ///   - chunk: The most rows that come at once; all but the last time as many.
    init(across: LanczosWeights, down: LanczosWeights, bands: Int, chunk: Int) {
        self.across = across
        self.down = down
        self.bands = bands
        count = across.length * bands
        stride = (count + 31) / 32 * 32 + 8
        group = bands == 1 ? 4 : 1
        slots = down.overlap(chunk: chunk) + group - 1
        sums = [Float](repeating: 0, count: stride * slots)
        lines = [Float](repeating: 0, count: across.count * bands * group)
        result = [UInt8](repeating: 0, count: across.count * bands * down.count)
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
                    unsafe satchel_rows_add_bytes(
                        source + skipped * rowBytes, rowBytes, Int32(part), weight, sum, count)
                }
            }
        }
        finish(until: rows.upperBound)
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
                unsafe satchel_row_to_bytes(line, result + index * length, length)
            }
        }
    }
}
