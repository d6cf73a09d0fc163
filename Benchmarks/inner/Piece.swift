import CCallgrind
import Glibc

/// One thing that Satchel does again and again, by itself.
struct Piece {
    /// Of its line in `thresholds.txt`.
    let name: String
    /// How often it is done for a figure: enough that what happens now and then evens out.
    let repetitions: Int
    let perform: () async throws -> Void

    /// Does every piece under callgrind, which writes a file for each.
    ///
    /// Only the repetitions are counted, whatever threads they are done on: not the start, not what is made first, and not
    /// the first time, when libraries find out what they work on.
    static func count(samples: String, directory: String) async throws {
        let records = try await RecordPieces(in: directory)
        let renderings = [Rendering.piece(samples: samples, directory: directory), Resizing.piece()]
        let pieces = try Identifying.pieces(samples: samples) + renderings + Hashing.pieces() + records.pieces()
        for piece in pieces {
            try await piece.perform()
            bench_start_counting()
            for _ in 0..<piece.repetitions { try await piece.perform() }
            bench_stop_counting()
            unsafe bench_write_count(piece.name)
            print(piece.name, piece.repetitions)
        }
        // Nothing that is torn down matters any more.
        fflush(nil)
        _exit(0)
    }
}

/// Numbers that look like chance and are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Waves with some grain: neither flat nor noise.
    mutating func picture(width: Int, height: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let grain = next()
                for (channel, wave) in [7, 13, 29].enumerated() {
                    let value = (x * wave + y * (wave ^ 5)) / 4 % 224 + Int(grain >> (channel * 8) & 31)
                    bytes.append(UInt8(value))
                }
            }
        }
        return bytes
    }
}
