import SatchelCore
import ClipCodecs
import Crypto
import Glibc
import StillCodecs

/// SHA-256 of what goes into the store, ThumbHash and BlurHash of what is shown until it comes.
enum Hashing {
    static func pieces() -> [Piece] {
        var generator = SeededGenerator(seed: 2)
        let picture = Raster(
            width: 100, height: 75, channels: 3, bytes: generator.picture(width: 100, height: 75))
        let bytes = generator.picture(width: 512, height: 256)
        return [
            Piece(name: "hash.sha256", repetitions: 4) {
                var hash = SHA256()
                unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
                guard Array(hash.finalize()).count == 32 else { complain("a hash is empty") }
            },
            Piece(name: "hash.placeholder", repetitions: 4) {
                guard !ThumbHash.encode(picture).isEmpty, !BlurHash.encode(picture).isEmpty else {
                    complain("a hash is empty")
                }
            },
        ]
    }

    static func measure(width: Int, height: Int, frames path: String) throws(AttachmentError) {
        let size = width * height * 3
        let descriptor = opened(path, O_RDONLY)
        var offset: off_t = 0
        while true {
            var frame = [UInt8](repeating: 0, count: size)
            guard unsafe pread(descriptor, &frame, size, offset) == size else { break }
            offset += off_t(size)
            let start = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
            let picture = Raster(width: width, height: height, channels: 3, bytes: frame)
            let (thumbhash, blurhash) = (ThumbHash.encode(picture), BlurHash.encode(picture))
            let end = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
            // Printed, so that nothing of it can be left out.
            print("\(end - start) \(thumbhash) \(blurhash)")
        }
    }
}
