public import Foundation

/// The profiles of a service, and its limits for all profiles.
public struct ProfileList: Hashable, Sendable, Decodable {
    public var profiles: [Profile]
    public var limits: Limits
}

/// The renditions to make from a source. Sides are in pixels, aims and caps in bytes. A kind without a policy is rejected.
public struct Profile: Hashable, Sendable, Decodable, Identifiable {
    public var name: String
    /// The purpose of the profile, in one sentence.
    public var summary: String
    /// Seconds.
    public var deadline: TimeInterval?
    /// The retention time in seconds; `nil` to keep results until they are deleted.
    public var retention: TimeInterval?
    public var keepsOriginal: Bool
    /// The trade-off between quality and speed: `best`, `standard` or `fast`.
    public var speed: String
    /// How to handle a source of which more than 2 % can't be decoded: `refuse` or `salvage`.
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
        /// Whether a crop keeps the most salient part, unless the submission says otherwise.
        public var attention: Bool
        public var aim: Int64?
        public var cap: Int64
        /// The JPEG quality of libjpeg, 1…100.
        public var quality: Int
        /// The minimum quality. Below it, the aim is given up.
        public var minimumQuality: Int
        /// The background color (`#rrggbb`) if no type of `types` supports transparency.
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
        /// The constant rate factor of x264, if the aim allows it. Lower is better.
        public var rateFactor: Int
        /// `structure` or `decode`: how a copy is checked for damage.
        public var check: String
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
        /// The bit rate in bits per second, if the aim allows it.
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

/// The limits for sources.
public struct Limits: Hashable, Sendable, Decodable {
    public var imageBytes: Int64
    public var clipBytes: Int64
    public var stillPixels: Int64
    public var framePixels: Int64
    /// The maximum width and height in pixels.
    public var side: Int
    public var animationPixels: Int64
    public var animationFrames: Int
    public var streams: Int
    /// The maximum size of an embedded color profile.
    public var iccBytes: Int64
}
