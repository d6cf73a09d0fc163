import Attachments
import Glibc

/// The delays of an APNG's frames, which are needed before the first frame is written.
enum APNGDelays {
    /// Milliseconds of each frame, from the `fcTL` chunks in their order; nothing is decoded.
    static func read(_ descriptor: Int32) throws(AttachmentError) -> [Int] {
        let end = try fileBytes(descriptor)
        var delays: [Int] = []
        var position: Int64 = 8
        // Length, name, then of a frame control: sequence, width, height, left, top, delay as a fraction.
        while position + 12 <= end, let chunk = chunk(descriptor, at: position) {
            if chunk[4..<8].elementsEqual("IEND".utf8) { break }
            if chunk[4..<8].elementsEqual("fcTL".utf8) {
                let numerator = Int(chunk[28]) << 8 | Int(chunk[29])
                let denominator = Int(chunk[30]) << 8 | Int(chunk[31])
                delays.append(numerator * 1000 / (denominator == 0 ? 100 : denominator))
            }
            let length = chunk[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            position += length + 12
        }
        return delays
    }

    private static func chunk(_ descriptor: Int32, at position: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 32)
        return unsafe pread(descriptor, &bytes, bytes.count, off_t(position)) >= 12 ? bytes : nil
    }
}
