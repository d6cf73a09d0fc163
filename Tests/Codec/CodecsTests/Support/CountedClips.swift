import Foundation
import TestSupport

/// Clips that tell of each picture and each sound when in the source it was: pictures are 160×120 and show their number
/// as eight stripes, white for ones; the sound's pitch rises steadily, so that it tells the time.
enum CountedClips {
    static let rate = 25.0
    static let seconds = 4.0
    static let frames = 100

    /// Hertz at the beginning, and by how much it rises each second.
    private static let pitch = 500.0
    private static let rise = 500.0

    /// Raw pictures and sound to encode.
    private static let (pictures, sound): (URL, URL) = {
        var pictures = Data(capacity: frames * 160 * 180)
        for number in 0..<frames { pictures.append(picture(number)) }
        let samples = (0..<Int(seconds * 48_000)).map { index -> Int16 in
            let time = Double(index) / 48_000
            return Int16(12_000 * sin(2 * .pi * (pitch * time + rise * time * time / 2)))
        }
        return (nameless(pictures), nameless(unsafe samples.withUnsafeBytes { unsafe Data($0) }))
    }()

    /// A file that is gone when this process is.
    private static func nameless(_ data: Data) -> URL {
        var path = Array(FileManager.default.temporaryDirectory.appending(path: "satchel-XXXXXX").path.utf8CString)
        let descriptor = unsafe mkstemp(&path)
        unsafe unlink(path)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try? file.write(contentsOf: data)
        return URL(filePath: "/proc/\(getpid())/fd/\(descriptor)")
    }

    private static func picture(_ number: Int) -> Data {
        var luma = [UInt8](repeating: 16, count: 160 * 120)
        for row in 0..<120 {
            for column in 0..<160 {
                let isOne = number >> (column / 20) & 1 == 1
                // Below the stripes something that moves, so that pictures are predicted from others.
                luma[row * 160 + column] =
                    row < 80 ? (isOne ? 220 : 30) : UInt8(40 + (column * 3 + row * 2 + number * 5) % 160)
            }
        }
        return Data(luma) + Data(repeating: 128, count: 160 * 60)
    }

    /// Arguments that give FFmpeg the raw pictures as its input 0 and the sound as input 1.
    static let inputs = [
        "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "160x120", "-r", "25", "-i", pictures.path, "-f", "s16le", "-ar",
        "48000", "-ac", "1", "-i", sound.path,
    ]

    /// Makes clips by one call of FFmpeg, each as its arguments say.
    static func make(_ clips: [(arguments: [String], output: URL)]) throws {
        try Tool.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-y"] + inputs + clips.flatMap { $0.arguments + [$0.output.path] })
    }

    /// What a player shows and lets hear of a file, by FFmpeg.
    struct Shown {
        struct Picture {
            /// Seconds on the file's clock.
            var time: Double
            var number: Int
        }

        var pictures: [Picture] = []
        /// Of the first sample.
        var audioStart: Double?
        private(set) var audioEnd: Double?
        /// By how much the sound's own coding delays it: what its pitch tells is so much later than its times.
        private(set) var audioDelay = 0.0

        /// Where its clock begins.
        var origin: Double {
            let first = min(pictures.first?.time ?? .infinity, audioStart ?? .infinity)
            // What primes the sound's decoder is not heard.
            return first < 0 && first > -0.2 ? 0 : first
        }

        /// The number of the picture that is shown at `time`, and how many are shown before it.
        func shown(at time: Double) -> (number: Int, place: Int) {
            let place = max(0, (pictures.lastIndex { $0.time <= time + 0.001 } ?? 0))
            return (pictures.isEmpty ? -1 : pictures[place].number, place)
        }

        /// Pairs of a time in this file and the source's time that the sound of that moment tells.
        fileprivate(set) var audioTimes: [(time: Double, told: Double)] = []

        fileprivate mutating func append(_ samples: [Int16], from start: Double) {
            audioStart = start
            audioEnd = start + Double(samples.count) / 16_000
            var crossings: [Double] = []
            var before = 0.0
            for (index, sample) in samples.enumerated() {
                let value = Double(sample)
                if before < 0 && value >= 0 && (value - before > 400) {
                    crossings.append(Double(index - 1) + before / (before - value))
                }
                before = value
            }
            // Windows of about 24 ms. Where the second half's waves are not shorter than the first's by as much as the pitch
            // rises, as at a fade, they tell nothing.
            var half = 6
            for first in stride(from: 0, to: crossings.count, by: 4) {
                while first + 2 * half < crossings.count, crossings[first + 2 * half] - crossings[first] < 380 {
                    half += 1
                }
                guard first + 2 * half < crossings.count else { break }
                let halves = [
                    crossings[first + half] - crossings[first], crossings[first + 2 * half] - crossings[first + half],
                ]
                let risen = 1 + rise / Double(half) * (halves[0] / 16_000) * (halves[1] / 16_000)
                guard abs(halves[0] / halves[1] - risen) < 0.006 else { continue }
                let middle = (crossings[first] + crossings[first + 2 * half]) / 2
                let frequency = Double(2 * half) * 16_000 / (halves[0] + halves[1])
                audioTimes.append((start + middle / 16_000, (frequency - pitch) / rise))
            }
            // A window that noise distorts is outvoted by its neighbours.
            let all = audioTimes
            for index in all.indices.dropFirst(2).dropLast(2) {
                let offsets = all[index - 2...index + 2].map { $0.told - $0.time }.sorted()
                audioTimes[index].told = all[index].time + offsets[2]
            }
            if all.count > 4 { audioTimes = Array(audioTimes.dropFirst(2).dropLast(2)) }
            let delays = audioTimes.map { $0.told - $0.time }.sorted()
            audioDelay = delays.isEmpty ? 0 : delays[delays.count / 2]
        }
    }

    /// What is shown of a file; a complaint of the decoders is an error.
    static func shown(_ url: URL, hasAudio: Bool, in directory: URL) throws -> Shown {
        try look([(url, [])], hasAudio: hasAudio, in: directory)[0]
    }

    /// What is shown of a file, and all that is in it whether its edit lists show it or not.
    static func shownAndHeld(_ url: URL, hasAudio: Bool, in directory: URL) throws -> (shown: Shown, held: Shown) {
        let looks = try look([(url, []), (url, ["-ignore_editlist", "1"])], hasAudio: hasAudio, in: directory)
        return (looks[0], looks[1])
    }

    /// What is shown of many files, by one process for each few of them.
    static func shown(_ urls: [URL], hasAudio: Bool, in directory: URL) throws -> [Shown] {
        try stride(from: 0, to: urls.count, by: 16).flatMap { first in
            try look(urls[first..<min(first + 16, urls.count)].map { ($0, []) }, hasAudio: hasAudio, in: directory)
        }
    }

    private static func look(
        _ options: [(url: URL, options: [String])], hasAudio: Bool, in directory: URL
    ) throws -> [Shown] {
        let base = directory.appending(path: "shown-\(UUID().uuidString)").path
        var arguments = ["-v", "error", "-nostdin", "-xerror", "-copyts"]
        for (url, options) in options { arguments += options + ["-i", url.path] }
        for input in options.indices {
            let video = [
                "-map", "\(input):v:0", "-vsync", "passthrough", "-vf", "scale=160:120,format=gray", "-c:v", "rawvideo",
            ]
            arguments += video + ["-f", "rawvideo", "\(base).\(input).gray"]
            arguments += video + ["-enc_time_base", "1:90000", "-f", "framecrc", "\(base).\(input).times"]
            guard hasAudio else { continue }
            let audio = ["-map", "\(input):a:0", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le"]
            arguments += audio + ["-f", "s16le", "\(base).\(input).samples"]
            arguments += audio + ["-f", "framecrc", "\(base).\(input).starts"]
        }
        try Tool.run("ffmpeg", arguments)
        return try options.indices.map { input in
            var shown = Shown()
            func part(_ name: String) -> URL { URL(filePath: "\(base).\(input).\(name)") }
            defer {
                for name in ["gray", "times", "samples", "starts"] {
                    try? FileManager.default.removeItem(at: part(name))
                }
            }
            let gray = try [UInt8](Data(contentsOf: part("gray")))
            let times = try times(part("times"))
            guard gray.count == times.count * 160 * 120 else {
                throw Tool.Failure(
                    description: "\(gray.count) bytes for \(times.count) pictures of \(options[input].url.path)")
            }
            for (index, time) in times.enumerated() {
                let picture = gray[(index * 19_200)...].prefix(19_200)
                shown.pictures.append(Shown.Picture(time: time, number: number(picture)))
            }
            guard hasAudio else { return shown }
            let raw = try Data(contentsOf: part("samples"))
            if let start = try Self.times(part("starts")).first {
                shown.append(unsafe raw.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }, from: start)
            }
            return shown
        }
    }

    private static func times(_ file: URL) throws -> [Double] {
        var unit = 1.0
        var times: [Double] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("#tb 0: ") {
                let parts = line.dropFirst(7).split(separator: "/").compactMap { Double($0) }
                if parts.count == 2 { unit = parts[0] / parts[1] }
            } else if !line.hasPrefix("#") {
                let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                guard fields.count > 3, let time = Double(fields[2]) else { continue }
                times.append(time * unit)
            }
        }
        return times
    }

    /// The number that a picture of 160×120 shows.
    static func number(of luma: Data) -> Int { number(ArraySlice([UInt8](luma))) }

    private static func number(_ picture: ArraySlice<UInt8>) -> Int {
        (0..<8).reduce(0) { number, stripe in
            var sum = 0
            for row in stride(from: 10, to: 70, by: 10) {
                sum += Int(picture[picture.startIndex + row * 160 + stripe * 20 + 10])
            }
            return number | (sum / 6 > 125 ? 1 << stripe : 0)
        }
    }
}
