import SatchelCore

/// Ways to keep samples in a TIFF that libvips takes for others without a word, or calls damaged.
enum TIFFSamples {
    /// Refuses a file whose first picture is kept so.
    static func check(_ file: UnsafeRawBufferPointer) throws(AttachmentError) {
        guard let directory = unsafe TIFFDirectory.all(in: file).first, let name = name(directory) else { return }
        throw .unsupported(.samples, name)
    }

    /// `signed numbers of 16 bits`; nil of what is taken. By TIFF 6.0, sections 8, 19 and 21.
    private static func name(_ directory: TIFFDirectory) -> String? {
        let photometric = directory.number(TIFFDirectory.Tag.photometric)
        let bits = directory.number(bitsPerSample) ?? 1
        let (isGrey, isLab) = (photometric == 0 || photometric == 1, photometric == 8)
        let compression = directory.number(TIFFDirectory.Tag.compression)
        let form = directory.number(sampleFormat) ?? 1
        switch form {
        // Two of Lab's three numbers are signed anyway.
        case 2 where !isLab: return "signed numbers of \(bits) bits"
        // Nothing says what is white where they are grey.
        case 3 where bits != 32 || isGrey: return "floating-point numbers of \(bits) bits\(isGrey ? " in grey" : "")"
        case 5, 6: return "complex numbers"
        default: break
        }
        let channels = directory.number(samplesPerPixel) ?? 1
        let isPacked = [1, 2, 4].contains(bits) && (channels == 1 || photometric == 3)
        if bits % 8 != 0, !isPacked {
            return "whole numbers of \(bits) bits\(channels > 1 ? " in \(channels) channels" : "")"
        }
        if bits > 32 { return "whole numbers of \(bits) bits" }
        if let alpha = directory.numbers[extraSamples]?.first(where: { $0 == 1 || $0 == 2 }) {
            let isInk = photometric == 5
            // libvips cuts off an alpha of more than 8 bits here.
            if isLab || isInk && bits == 32 { return "\(isLab ? "Lab" : "CMYK") of \(bits) bits with alpha" }
            // And divides by 8 bits of alpha what was multiplied by more, but for RGB and grey of 16 bits and floats.
            if alpha == 1, isInk ? bits == 16 : bits == 32 && form == 1 {
                return "\(isInk ? "CMYK" : "numbers") of \(bits) bits multiplied by alpha"
            }
        }
        // JPEG's own decoder makes RGB of it; of the way before TIFF's second technical note, libtiff gives its planes as they are.
        guard photometric == 6, compression != 7 else { return nil }
        return compression == 6 ? "YCbCr in JPEG of the old style" : "YCbCr without JPEG"
    }

    private static let bitsPerSample = 258
    private static let samplesPerPixel = 277
    private static let extraSamples = 338
    private static let sampleFormat = 339
}
