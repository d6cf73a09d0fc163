import Foundation

/// The sample files of every kind, good and bad.
enum SampleFiles {
    private static let extensions: Set = [
        "jpg", "png", "gif", "webp", "heic", "heif", "avif", "tiff", "mp4", "m4v", "mov", "3gp", "webm", "mkv", "avi",
        "mpg", "ts", "mp3", "m4a", "aac", "wav", "aiff", "caf", "flac", "ogg", "opus", "amr", "bmp", "jxl",
    ]

    /// In order.
    static func all(in directory: URL) -> [URL] {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: [.isRegularFileKey])
        let all = files?.compactMap { $0 as? URL } ?? []
        return all.filter { extensions.contains($0.pathExtension) }.sorted { $0.absoluteString < $1.absoluteString }
    }
}
