import SatchelCore
import ClipCodecs
import Glibc
import StillCodecs

/// Cutting a part out of a video, from the look at it to the last byte.
enum Trimming {
    static func measure(
        start: Double, seconds: Double, limit: Int, output: String, inputs: some Sequence<String>
    ) throws(AttachmentError) {
        try Codec.everything.prepare()
        var profile = Profile(name: "bench")
        var video = VideoPolicy.defaults
        (video.longestSide, video.cap, video.poster) = (limit, 1_000_000_000, nil)
        profile.video = video
        let order = WorkOrder(
            profile: profile, request: RenditionRequest(trim: TrimRequest(start: start, duration: seconds)),
            limits: .commandLine)
        for input in inputs {
            let source = opened(input, O_RDONLY)
            let result = opened(output, O_RDWR | O_CREAT | O_TRUNC)
            let began = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
            let identified = try Codec.everything.identify(source, order: order)
            var spent = identified.probeResult.seconds
            let command = RenderCommand(memory: 2 << 30, outputs: [.main])
            let ending = try Codec.everything.render(identified, command: command, outputs: [.main: result]) { report in
                spent += report.seconds
                close(result)
            }
            let method = ending.trim?.method.rawValue ?? "none"
            print("\(method) \(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - began) \(spent * 1000)")
            close(source)
        }
    }
}
