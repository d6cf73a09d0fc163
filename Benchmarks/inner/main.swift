import Attachments
import Codecs
import Glibc

// What inner pieces cost, without processes and stores around them. Prints a line for each input, times in milliseconds.
//
//   inner-bench hashes WIDTH HEIGHT FRAMES        ThumbHash and BlurHash of each frame of a raw RGB file:
//                                                 processor time of both together
//   inner-bench trim START SECONDS LIMIT OUTPUT INPUT…
//                                                 the main rendition of each video, at most LIMIT pixels long: how it was
//                                                 cut, processor time of everything, wall time of looking and cutting

func milliseconds(_ clock: clockid_t) -> Double {
    var now = timespec()
    unsafe clock_gettime(clock, &now)
    return Double(now.tv_sec) * 1e3 + Double(now.tv_nsec) / 1e6
}

func complain(_ text: String) -> Never {
    let line = Array("inner-bench: \(text)\n".utf8)
    _ = unsafe write(2, line, line.count)
    exit(1)
}

func opened(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { complain("\(path) can't be opened") }
    return descriptor
}

func measureHashes(width: Int, height: Int, frames path: String) throws(AttachmentError) {
    let size = width * height * 3
    let descriptor = opened(path, O_RDONLY)
    var offset: off_t = 0
    while true {
        var frame = [UInt8](repeating: 0, count: size)
        guard unsafe pread(descriptor, &frame, size, offset) == size else { break }
        offset += off_t(size)
        let start = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
        let hashes = PlaceholderHashes(rgb: frame, width: width, height: height)
        let end = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
        // Printed, so that nothing of it can be left out.
        print("\(end - start) \(hashes.thumbhash) \(hashes.blurhash)")
    }
}

func measureTrims(
    start: Double, seconds: Double, limit: Int, output: String, inputs: some Sequence<String>
) throws(AttachmentError) {
    try Codec.prepare()
    var profile = Profile(name: "bench")
    profile.video = VideoPolicy(longestSide: limit, cap: 1_000_000_000, poster: nil)
    let order = WorkOrder(
        profile: profile, request: RenditionRequest(trim: TrimRequest(start: start, duration: seconds)),
        limits: .commandLine)
    for input in inputs {
        let source = opened(input, O_RDONLY)
        let result = opened(output, O_RDWR | O_CREAT | O_TRUNC)
        let began = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
        let identified = try Codec.identify(source, order: order)
        var spent = identified.findings.seconds
        let goAhead = GoAhead(memory: 2 << 30, outputs: [.main])
        let ending = try Codec.render(identified, goAhead: goAhead, outputs: [.main: result]) { report in
            spent += report.seconds
            close(result)
        }
        let method = ending.trim?.method.rawValue ?? "none"
        print("\(method) \(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - began) \(spent * 1000)")
        close(source)
    }
}

let arguments = CommandLine.arguments.dropFirst().map(\.self)
do throws(AttachmentError) {
    switch arguments.first {
    case "hashes" where arguments.count == 4:
        guard let width = Int(arguments[1]), let height = Int(arguments[2]), (1...100).contains(width),
            (1...100).contains(height)
        else { complain("sides are 1 to 100 pixels") }
        try measureHashes(width: width, height: height, frames: arguments[3])
    case "trim" where arguments.count > 5:
        guard let start = Double(arguments[1]), let seconds = Double(arguments[2]), let limit = Int(arguments[3]) else {
            complain("start, seconds and limit are numbers")
        }
        try measureTrims(
            start: start, seconds: seconds, limit: limit, output: arguments[4], inputs: arguments.dropFirst(5))
    default: complain("say 'hashes WIDTH HEIGHT FRAMES' or 'trim START SECONDS LIMIT OUTPUT INPUT…'")
    }
} catch {
    complain("\(error)")
}
