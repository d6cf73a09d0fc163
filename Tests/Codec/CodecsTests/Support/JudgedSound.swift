import SatchelCore
import Foundation
import TestSupport

@testable import ClipCodecs
@testable import StillCodecs

/// A sound, what became of it, and what an independent decoder lets hear of both.
struct JudgedSound: Sendable {
    var source: URL
    var made: RenderedClip
    /// The source's samples, of one channel.
    var before: [Int16]
    /// The main rendition's.
    var after: [Int16]
    /// What a full decode of the main rendition complains about; nil where nobody wants to know.
    var complaints: String?

    /// Renders sources one by one, and judges all at once; by their names.
    static func all(
        _ sources: [URL], rate: Int, trim: TrimRequest? = nil, wantsComplaints: Bool = false
    ) throws -> [String: Result<JudgedSound, any Error>] {
        var judged: [String: Result<JudgedSound, any Error>] = [:]
        var rendered: [(name: String, source: URL, made: RenderedClip, main: URL)] = []
        for source in sources {
            let name = source.lastPathComponent
            do {
                guard let made = try Clips.render(source, request: RenditionRequest(trim: trim)) else {
                    throw Tool.Failure(description: "\(name) is not taken")
                }
                rendered.append((name, source, made, try made.file(.main)))
            } catch {
                judged[name] = .failure(error)
            }
        }
        let mains = rendered.map(\.main)
        let heard = try samples(rendered.map(\.source) + mains, rate: rate)
        let complaints = try wantsComplaints ? Probe.decodingErrors(mains) : []
        for (index, one) in rendered.enumerated() {
            judged[one.name] = .success(
                JudgedSound(
                    source: one.source, made: one.made, before: heard[index], after: heard[rendered.count + index],
                    complaints: wantsComplaints ? complaints[index] : nil))
        }
        return judged
    }

    /// Samples that an independent decoder gives of each file's sound, by one process: FFmpeg takes longer to start than
    /// to decode most of them.
    static func samples(_ urls: [URL], channels: Int = 1, rate: Int) throws -> [[Int16]] {
        guard !urls.isEmpty else { return [] }
        let directory = try TemporaryDirectory()
        let files = urls.indices.map { directory.url.appending(path: "\($0).samples") }
        var arguments = ["-v", "error", "-nostdin"] + urls.flatMap { ["-i", $0.path] }
        for (index, file) in files.enumerated() {
            arguments += ["-map", "\(index):a:0", "-ac", "\(channels)", "-ar", "\(rate)", "-f", "s16le", file.path]
        }
        try Tool.run("ffmpeg", arguments)
        return try files.map { file in
            let raw = try Data(contentsOf: file)
            return unsafe raw.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
        }
    }
}
