public import Foundation

/// The profiles of a service, and what it takes whatever the profile.
public struct ProfileList: Hashable, Sendable, Decodable {
    public var profiles: [Profile]
    public var limits: Limits
}

/// What is made of a source. Sides are pixels, aims and caps bytes. A kind without a policy is refused.
public struct Profile: Hashable, Sendable, Decodable, Identifiable {
    public var name: String
    /// One sentence on what it is for.
    public var summary: String
    /// Seconds.
    public var deadline: TimeInterval?
    /// Seconds that results are kept; nil until they are deleted.
    public var retention: TimeInterval?
    public var keepsOriginal: Bool
    /// What matters more where pictures are scaled: `best`, `standard` or `fast`.
    public var speed: String
    /// What becomes of a source of which more than a fiftieth can't be decoded: `refuse` or `salvage`.
    public var damaged: String
    public var thumbnail: Thumbnail?
    public var image: Image?
    public var animation: Animation?
    public var video: Video?
    public var audio: Audio?

    public var id: String { name }

    public struct Thumbnail: Hashable, Sendable, Decodable {
        public var side: Int
        /// `inside` or `crop`.
        public var fit: String
        public var cap: Int64
        public var quality: Int
    }

    public struct Image: Hashable, Sendable, Decodable {
        public var types: [String]
        public var longestSide: Int?
        /// `inside` or `crop`.
        public var fit: String
        /// Whether a crop looks for the most salient part, where the submission doesn't say.
        public var attention: Bool
        public var aim: Int64?
        public var cap: Int64
        /// 1…100, as libjpeg has it.
        public var quality: Int
        /// The quality below which an aim is given up.
        public var minimumQuality: Int
        /// `#rrggbb`: what transparency is laid over where none of `types` has any.
        public var background: String
    }

    public struct Animation: Hashable, Sendable, Decodable {
        public var type: String
        public var longestSide: Int?
        public var aim: Int64?
        public var cap: Int64
    }

    public struct Video: Hashable, Sendable, Decodable {
        public var type: String
        public var longestSide: Int?
        public var aim: Int64?
        public var cap: Int64
        /// Seconds.
        public var maximumDuration: TimeInterval?
        /// `trim` or `refuse`.
        public var whenLonger: String
        /// x264's constant rate factor where the aim leaves room; lower is better.
        public var rateFactor: Int
        public var poster: Poster?
    }

    public struct Poster: Hashable, Sendable, Decodable {
        public var longestSide: Int
        public var cap: Int64
        public var quality: Int
    }

    public struct Audio: Hashable, Sendable, Decodable {
        public var types: [String]
        public var aim: Int64?
        public var cap: Int64
        /// Seconds.
        public var maximumDuration: TimeInterval?
        /// `trim` or `refuse`.
        public var whenLonger: String
        /// Bits per second where the aim leaves room.
        public var bitRate: Int
        public var waveform: Waveform?
    }

    public struct Waveform: Hashable, Sendable, Decodable {
        public var width: Int
        public var height: Int
        public var buckets: Int
        public var cap: Int64
    }
}

/// What a source may ask of the service.
public struct Limits: Hashable, Sendable, Decodable {
    public var imageBytes: Int64
    public var clipBytes: Int64
    public var stillPixels: Int64
    public var framePixels: Int64
    /// Pixels along a side of any picture.
    public var side: Int
    public var animationPixels: Int64
    public var animationFrames: Int
    public var streams: Int
    /// Of an embedded colour profile.
    public var iccBytes: Int64
}
