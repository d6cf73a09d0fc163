import SatchelCore
import Testing

@Suite struct DecoderSetTests {
    private static let cases: [(type: String?, name: String?, DecoderSet)] = [
        ("image/jpeg", "a.mp4", .common), ("video/mp4", "a.jpg", .full),
        ("application/octet-stream", "a.MOV", .full), ("application/octet-stream", "a.jpeg", .common),
        (nil, "holiday.heic", .full), (nil, "holiday.PNG", .common), (nil, "a.b.tar.gz", .common),
        (nil, "no ending", .common), (nil, ".", .common), (nil, nil, .common), ("image/gif; q=1", nil, .full),
    ]

    @Test(arguments: cases)
    func `the declared type, then the name's ending, say what a source probably needs`(
        type: String?, name: String?, expected: DecoderSet
    ) {
        #expect(DecoderSet(declaredType: type, name: name) == expected)
    }

    @Test(arguments: [false, true])
    func `an invocation is read as it was written`(fastHuffman: Bool) {
        let invocation = CodecInvocation(
            policy: .full, sourcesPerProcess: 7, fastHuffman: fastHuffman, standIns: "/usr/lib/a b",
            rest: ["--withhold=user"])
        #expect(CodecInvocation(arguments: invocation.arguments) == invocation)
    }

    @Test func `a zygote's environment has its stand-ins' directory, and nothing of it where there is none`() {
        #expect(CodecInvocation(policy: .standard).environment == CodecInvocation.environment)
        let invocation = CodecInvocation(policy: .standard, standIns: "/stand-ins")
        #expect(invocation.environment == CodecInvocation.environment + ["LD_LIBRARY_PATH=/stand-ins"])
    }
}
