/// Which sources a codec process can take: it has no libraries for others.
///
/// FFmpeg's libraries and those for HEIF and JXL are two thirds of what a codec loads when it starts, and of the mappings
/// that every process has to copy; a photograph needs none of them.
public enum DecoderSet: String, Hashable, Sendable, CaseIterable {
    /// Stills that libvips reads without a module: those of ``PictureFormat/needs``.
    case common
    /// Everything.
    case full

    /// What a source probably needs, by what is said of it. The codec finds out what it is; a wrong guess costs a process.
    ///
    /// - Parameters:
    ///   - declaredType: A media type, if any was given.
    ///   - name: A file's, if any was given.
    public init(declaredType: String?, name: String?) {
        let dot = name?.lastIndex(of: ".")
        let ending = dot.flatMap { dot in name.map { String($0[dot...].dropFirst()) } }
        let type = [declaredType, ending].lazy.compactMap(\.self).compactMap(MediaType.init(declared:)).first
        self = type.map { $0.format.picture?.needs ?? .full } ?? .common
    }
}
