/// How the pictures of a format are read: one for each reader, whatever the types are called that it reads.
public struct PictureFormat: Hashable, Sendable {
    /// For people: `HEIF`.
    public let name: String
    /// What its files are, and what they are instead where libvips or FFmpeg names the coding of their pictures.
    public let type: MediaType
    public let typesByCoding: [String: MediaType]
    /// libmagic's media types.
    public let sniffed: Set<String>
    /// How files begin that libmagic calls otherwise, or nothing; nil where it knows them all.
    public let signature: Signature?
    /// libvips' operation; nil where it has none.
    public let loader: VipsOperation?
    /// What a process needs for its stills.
    public let needs: DecoderSet
    /// Whether its decoder reads a file piece by piece, so that it can be stopped at each.
    public let isReadInPieces: Bool
    /// How much smaller its decoder can make pictures by itself.
    public let shrinksOnLoad: ShrinkOnLoad?
    /// What decoding takes, and what it takes of files that are progressive or interlaced.
    public let cost: DecodingCost
    public let costInSeveralScans: DecodingCost
    /// Nil where it has none, or none is read.
    public let animation: AnimationReading?

    init(
        _ name: String, _ type: MediaType, typesByCoding: [String: MediaType] = [:], sniffed: Set<String>,
        signature: Signature? = nil, loader: VipsOperation?,
        needs: DecoderSet = .full, isReadInPieces: Bool = false, shrinksOnLoad: ShrinkOnLoad? = nil,
        cost: DecodingCost, inSeveralScans: DecodingCost? = nil, animation: AnimationReading? = nil
    ) {
        self.name = name
        self.type = type
        self.typesByCoding = typesByCoding
        self.sniffed = sniffed
        self.signature = signature
        self.loader = loader
        self.needs = needs
        self.isReadInPieces = isReadInPieces
        self.shrinksOnLoad = shrinksOnLoad
        self.cost = cost
        costInSeveralScans = inSeveralScans ?? cost
        self.animation = animation
    }

    /// Each has a name of its own.
    public static func == (one: PictureFormat, other: PictureFormat) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// One for each reader.
    public static let all: [PictureFormat] = FileFormat.all.reduce(into: []) { all, format in
        if let picture = format.picture, !all.contains(picture) { all.append(picture) }
    }

    /// The one that libmagic's media type names.
    public init?(sniffed type: String) {
        guard let format = Self.all.first(where: { $0.sniffed.contains(type) }) else { return nil }
        self = format
    }

    /// The one whose files begin like `head`.
    public init?(head: [UInt8]) {
        guard let format = Self.all.first(where: { $0.signature?.begins(head) == true }) else { return nil }
        self = format
    }

    /// How files begin.
    public enum Signature: Hashable, Sendable {
        case bytes([UInt8])
        /// ISO base media (ISO/IEC 14496-12) whose brands are among these, and whose first one is not a clip's.
        case brands(Set<String>)

        private static let clips: Set = ["isom", "iso2", "mp41", "mp42", "qt  ", "M4V ", "M4A ", "avc1"]

        func begins(_ head: [UInt8]) -> Bool {
            switch self {
            case .bytes(let bytes): return head.starts(with: bytes)
            case .brands(let images):
                guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return false }
                let size = Int(head[0]) << 24 | Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
                // The major brand, then after four bytes the compatible ones.
                let starts = [8] + Array(stride(from: 16, to: min(size, head.count, 256) - 3, by: 4))
                let brands = starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
                return !Self.clips.contains(brands[0]) && brands.contains(where: images.contains)
            }
        }
    }

    /// What a decoder can do of scaling.
    public enum ShrinkOnLoad: Hashable, Sendable {
        /// Divides sides, which it rounds up; the greatest first.
        case divides(by: [Int])
        /// Scales to any size.
        case scales
    }
}

/// An operation of libvips, and the classes that have to be allowed for it.
public struct VipsOperation: Hashable, Sendable {
    /// `jpegload_source`
    public let name: String
    /// `VipsForeignLoadJpeg`; several where it depends on how libvips was built.
    public let families: [String]

    init(_ name: String, of families: String...) {
        self.name = name
        self.families = families
    }
}

/// What decoding a picture takes, by its size as stored.
public struct DecodingCost: Hashable, Sendable {
    /// Bytes that the decoder holds at its peak for each pixel, ...
    public var bytesPerPixel = 0.0
    /// ... for each byte of the decoded pixels, ...
    public var bytesPerByte = 0.0
    /// ... for each sample of the file's planes, ...
    public var bytesPerSample = 0.0
    /// ... for each column, whatever the height, ...
    public var bytesPerColumn = 0.0
    /// ... and for each byte of a decoded row.
    public var bytesPerByteOfRow = 0.0
    /// Processor time for each pixel.
    public var nanoseconds = 0.0
    /// Where the decoder scales: for each pixel that it gives besides, up to so much for each of the file.
    public var nanosecondsPerKept = 0.0
    public var mostNanosecondsForKept = 0.0

    /// Bytes at the peak.
    ///
    /// - Parameters:
    ///   - pixelBytes: Of a decoded pixel.
    ///   - samples: Of the file, for each pixel.
    public func memory(_ size: PixelSize, pixelBytes: Int, samples: Double) -> Double {
        let forPixel = bytesPerPixel + bytesPerByte * Double(pixelBytes) + bytesPerSample * samples
        return Double(size.area) * forPixel + Double(size.width)
            * (bytesPerColumn + bytesPerByteOfRow * Double(pixelBytes))
    }

    /// Processor time for so many pixels, of which `kept` are given.
    public func seconds(_ pixels: Double, kept: Double) -> Double {
        (pixels * nanoseconds + min(pixels * mostNanosecondsForKept, kept * nanosecondsPerKept)) / 1e9
    }
}

/// How a format's animations are read.
public struct AnimationReading: Hashable, Sendable {
    /// For people, where it isn't the format's: `APNG`.
    public var name: String?
    /// Processor time for each pixel of each frame.
    public let nanoseconds: Double
    /// Whether the decoder keeps pictures that others refer to.
    public var keepsReferences = false
    /// What only newer libraries read; nil where all do.
    public var needs: NewerFeature?
}
