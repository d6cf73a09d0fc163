import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs
import Synchronization

/// The libraries as a whole: their log, and the work that the zygote does once for all its forks.
package enum FFmpegLibraries {
    /// Looks up what a clip needs, so that every fork finds it ready. Starts no thread.
    package static func prepare() { _ = ready }

    static var version: String { unsafe String(cString: av_version_info()) }

    private static let ready: Void = {
        _ = quietLog
        for name in Decoders.names { unsafe _ = avcodec_find_decoder_by_name(name) }
        for name in ["libx264", "aac", "pcm_s16le"] { unsafe _ = avcodec_find_encoder_by_name(name) }
        for name in Filter.names {
            unsafe _ = avfilter_get_by_name(name)
        }
        for name in FileFormat.all.compactMap(\.muxer) { unsafe _ = av_guess_format(name, nil, nil) }
    }()

    /// Forgets the log lines kept so far; at the start of a source.
    static func clearLog() {
        log.withLock { $0 = Log() }
    }

    /// The first errors that the libraries logged since ``clearLog()``, each once.
    static var loggedErrors: [String] {
        log.withLock { $0.lines }
    }

    /// The pixels of the first picture since then that was over a decoder's limit: FFmpeg tells only its log.
    static var refusedPixels: Int64? {
        log.withLock { $0.refusedPixels }
    }

    /// Reads `Picture size 16000x16000 exceeds specified max pixel count 25000000, …`.
    private static func refusedPixels(in line: String) -> Int64? {
        guard line.contains("exceeds specified max pixel count"),
            let size = line.split(separator: " ").first(where: { $0.first?.isNumber == true && $0.contains("x") })
        else { return nil }
        let sides = size.split(separator: "x").compactMap { Int64($0) }
        guard sides.count == 2 else { return nil }
        let (pixels, overflow) = sides[0].multipliedReportingOverflow(by: sides[1])
        return overflow ? .max : pixels
    }

    /// How many errors they logged since then, repeated ones too.
    static var errorCount: Int {
        log.withLock { $0.count }
    }

    /// FFmpeg's words for a return code.
    static func describe(_ code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        unsafe satchel_describe(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private struct Log {
        static let keptLines = 4

        var lines: [String] = []
        var count = 0
        var refusedPixels: Int64?
    }

    private static let log = Mutex(Log())

    /// Nothing goes to stderr: what a file provokes is a fact about the file, kept for its record.
    private static let quietLog: Void = {
        unsafe av_log_set_callback { context, level, format, arguments in
            guard level <= AV_LOG_ERROR, let format = unsafe format, let arguments = unsafe arguments else { return }
            var text = [CChar](repeating: 0, count: 200)
            guard unsafe vsnprintf(&text, text.count, format, arguments) > 0 else { return }
            // Text from the file may be in it: printable ASCII only.
            var line = unsafe satchel_log_name(context).map { unsafe String(cString: $0) + ": " } ?? ""
            for character in text where (32...126).contains(character) {
                line.unicodeScalars.append(Unicode.Scalar(UInt8(bitPattern: character)))
            }
            // A subtitle that we don't decode is no error.
            if line.contains("not on whitelist") { return }
            log.withLock { log in
                log.count += 1
                log.refusedPixels = log.refusedPixels ?? refusedPixels(in: line)
                if log.lines.count < Log.keptLines && !log.lines.contains(line) { log.lines.append(line) }
            }
        }
    }()
}
