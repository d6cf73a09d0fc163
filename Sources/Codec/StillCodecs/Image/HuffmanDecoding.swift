import SatchelCore
import CJPEG
import Synchronization

/// Who decodes the Huffman codes of JPEGs in this process.
enum HuffmanDecoding {
    private static let fallback = Mutex<CodecLibrary.HuffmanFallback?>(.turnedOff)

    /// Has our decoder do it where that is allowed and right.
    ///
    /// Starts no thread: for the zygote, whose forks keep to it. Takes 0.3 ms.
    static func prepare(isAllowed: Bool) {
        fallback.withLock { fallback in
            guard isAllowed else { return }
            switch satchel_jpeg_use_own_huffman() {
            case 1: fallback = nil
            case 0: fallback = .untriedVersion
            default: fallback = .differs
            }
        }
    }

    static var library: CodecLibrary {
        let number = satchel_jpeg_version()
        let parts = [number / 1_000_000, number / 1000 % 1000, number % 1000]
        return CodecLibrary(
            .libjpegTurbo, version: parts.map(String.init).joined(separator: "."),
            huffmanFallback: fallback.withLock { $0 })
    }
}
