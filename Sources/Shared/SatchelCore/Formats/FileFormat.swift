/// What everybody may know of a file format: a value without code, one for each ``MediaType``.
///
/// Formats that one reader takes share a file of this folder; the codec side binds its code to them.
public struct FileFormat: Hashable, Sendable {
    public let type: MediaType
    /// For people: `JPEG`.
    public let name: String
    /// Of content URLs, without a dot.
    public let fileExtension: String
    /// The uniform type identifier that Apple's systems use.
    public let uti: String
    /// Other extensions and media types under which clients, origins and libmagic know it.
    public let otherNames: Set<String>
    /// How its pictures are read; nil of clips.
    public let picture: PictureFormat?
    /// How its pictures and sound are read; nil of pictures.
    public let container: ContainerFormat?
    /// What stills are that are written as it; nil where none are.
    public let still: StillOutput?
    /// What animations are that are written as it; nil where none are.
    public let animation: AnimationOutput?
    /// FFmpeg's muxer for clips that are written as it; nil where none are.
    public let muxer: String?

    init(
        _ type: MediaType, _ name: String, fileExtension: String, uti: String, otherNames: Set<String> = [],
        picture: PictureFormat? = nil, container: ContainerFormat? = nil, still: StillOutput? = nil,
        animation: AnimationOutput? = nil, muxer: String? = nil
    ) {
        self.type = type
        self.name = name
        self.fileExtension = fileExtension
        self.uti = uti
        self.otherNames = otherNames
        self.picture = picture
        self.container = container
        self.still = still
        self.animation = animation
        self.muxer = muxer
    }

    public static let all = MediaType.allCases.map(\.format)

    /// Those that a name or a media type of any spelling stands for.
    static let byName: [String: FileFormat] = {
        var formats: [String: FileFormat] = [:]
        for format in all {
            let names = [format.type.rawValue, format.fileExtension, format.uti] + format.otherNames
            for name in names { formats[name] = format }
        }
        return formats
    }()
}
