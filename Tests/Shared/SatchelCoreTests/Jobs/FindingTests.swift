import RegexBuilder
import TestSupport
import Testing

@testable import SatchelCore

@Suite struct FindingTests {
    @Test(arguments: [(0.0, true), (1, true), (2, true), (2.001, false), (100, false)])
    func `up to a fiftieth may be missing`(missing: Double, isDelivered: Bool) throws {
        let finding = Finding(.endsBefore, .rows, missing: missing, of: 100)
        #expect(finding.isTolerable == isDelivered)
        if isDelivered {
            #expect(try finding.loss(when: .refuse) == (missing == 0 ? nil : finding))
        } else {
            #expect(throws: AttachmentError.unreadable(finding)) { try finding.loss(when: .refuse) }
        }
    }

    @Test(arguments: WhenDamaged.allCases) func `nothing missing is no loss`(damaged: WhenDamaged) throws {
        #expect(try Finding(.notDecoded, .frames, missing: 0, of: 0).loss(when: damaged) == nil)
    }

    @Test(arguments: [0.001, 3, 50, 100]) func `a profile that salvages takes what is left`(missing: Double) throws {
        let finding = Finding(.notDecoded, .sound, missing: missing, of: 100)
        #expect(try finding.loss(when: .salvage) == finding)
    }

    @Test func `only what is read from the bytes proves damage`() {
        for code in Finding.Code.allCases {
            let error = AttachmentError.unreadable(Finding(code))
            #expect(error.code == (code.isProof ? .corrupt : .undecodable))
            if code.isProof { #expect(code.words.opening != nil && code.words.opening != .undecoded, "\(code)") }
        }
        #expect(ErrorCode.undecodable.unError == 105 && ErrorCode.undecodable.blamesTheSource)
        #expect(!ErrorCode.undecodable.isRetryable)
    }

    @Test func `what is missing is said in figures, and never as nothing`() {
        #expect(Finding(.endsBefore, .rows, missing: 3, of: 480).what == "3 of 480 rows")
        #expect(Finding(.notDecoded, .frames, missing: 1, of: 900).what == "1 of 900 frames")
        #expect(Finding(.notDecoded, .sound, missing: 0.05, of: 2).what == "0.05 s of 2.00 s of its sound")
        #expect(Finding(.notDecoded, .sound, missing: 0.000_1, of: 2).what == "0.01 s of 2.00 s of its sound")
    }

    @Test(
        arguments: [
            (
                Finding(.endsBefore, .sound, missing: 511.93, of: 512),
                "The file is truncated: its header announces 8 min 32 s, and only the first 0.07 s are there. More than 2 % of the file is missing, so it was not delivered. Profiles with 'damaged: salvage' deliver the rest. Send it again, whole."
            ),
            (
                Finding(.notDecoded, .picture, named: "AVIF"),
                "Satchel could not read this AVIF picture. It may well be whole: if it opens elsewhere, save it as JPEG or PNG and send that. If not, it is damaged: get it again from where it came from."
            ),
            (
                Finding(.notDecoded, .sound, missing: 0.21, of: 7),
                "Satchel could not decode 0.21 s of 7.00 s of its sound. More than 2 % of the file is missing, so it was not delivered. Profiles with 'damaged: salvage' deliver the rest. If it opens elsewhere without a fault, save it as MP4, M4A or MP3 and send that. If not, it is damaged: get it again from where it came from."
            ),
            (
                Finding(.zeros, .video, missing: 4.12, of: 9),
                "The file is truncated: its header announces 9.00 s, and only the first 4.88 s are there: the file holds nothing but zeros from there on. More than 2 % of the file is missing, so it was not delivered. Profiles with 'damaged: salvage' deliver the rest. Send it again, whole."
            ),
            (
                Finding(.dataEndsEarly, .rows, missing: 126, of: 219),
                "The file is damaged: 126 of 219 rows are missing, because its data ends before its announced rows. More than 2 % of the file is missing, so it was not delivered. Profiles with 'damaged: salvage' deliver the rest. Send it again from the original."
            ),
            (
                Finding(.tooSmall, of: 22),
                "The file has 22 bytes, and it is too small for a picture, sound or video. Get the file again from where it came from."
            ),
            (
                Finding(.checksumDiffers, named: "first page"),
                "The file is damaged: a checksum of its first page is wrong. Send it again from the original."
            ),
            (
                Finding(.noKeyframe, .video),
                "Satchel could not read this video: it has no frame that can be decoded without others. It may well be whole: if it opens elsewhere, save it as MP4 and send that. If not, it is damaged: get it again from where it came from."
            ),
        ])
    func `a refusal says what the file is and what to do`(finding: Finding, message: String) {
        #expect(finding.refusal == message)
    }

    @Test(
        arguments: [
            (Finding(.limit, .video, missing: 52, of: 62), "first 10 s of 1:02"),
            (Finding(.limit, .video, missing: 0.03, of: 10.03), "first 10.00 s of 10.03 s"),
            (Finding(.limit, .sound, missing: 0.1, of: 62.1), "first 1:02.00 of 1:02.10"),
            (Finding(.oneTaken, .pages, missing: 999, of: 1000), "page 1 of 1000"),
            (Finding(.oneTaken, .soundTracks, missing: 1, of: 3), "sound track 2 of 3"),
            (Finding(.leftOut, .transparency, named: "MP4"), "without transparency"),
            (Finding(.notSupported, .soundTracks, named: "WavPack"), "without sound"),
            (Finding(.endsBefore, .rows, missing: 15, of: 300), "damaged: 285 of 300 rows"),
            (Finding(.endsWithin, .video, of: 2.8, named: "last packet"), "damaged: ends at 2.8 s"),
            (Finding(.mixedDown, .channels, missing: 4, of: 6), "6 channels mixed to 2"),
            (Finding(.gap, .video, missing: 5, of: 10), "5 s of 10 s without video"),
            (Finding(.merged, .frames, missing: 1, of: 5, named: "GIF"), "4 of 5 frames"),
            (Finding(.leftOut, .plays, missing: 2, of: 3, named: "MP4"), "1 of 3 plays"),
            (Finding(.leftOut, .plays, named: "MP4"), "without repetition"),
        ])
    func `a result is a phrase`(finding: Finding, phrase: String) {
        #expect(finding.phrase == phrase)
        let isLoss = ![.limit, .oneTaken, .leftOut, .mixedDown, .merged].contains(finding.code)
        let diagnosis = Diagnosis(omissions: isLoss ? [] : [finding], losses: isLoss ? [finding] : [])
        #expect(Diagnosis.result(isLoss ? .reduced : .full, error: nil, diagnosis: diagnosis) == phrase)
        #expect(Diagnosis.result(.full, error: nil, diagnosis: Diagnosis()) == "full")
        #expect(Diagnosis.result(nil, error: .tooManyPixels, diagnosis: diagnosis) == "failed: too many pixels")
    }

    @Test(
        arguments: [
            (
                Finding(.otherLength, missing: 7_520, of: 7_510),
                "its header announces 7520.00 s, and it holds 7510.00 s"
            ),
            (
                Finding(.otherFrame, missing: 99, of: 3),
                "the part has no frame 99, so the thumbnail shows frame 3"
            ),
            (
                Finding(.sizeChanges, missing: 1.96, named: "640×360"),
                "from 1.96 s on its pictures are 640×360 and are fitted into the shape of the first"
            ),
            (
                Finding(.estimate, .speed, missing: 6.2, of: 1.9),
                "the speed 'best': an estimated 6.20 s were more than the 1.90 s left"
            ),
            (Finding(.notSupported, .speed, named: "APNG"), "the speed 'best': APNG is not supported"),
            (
                Finding(.shownOtherwise, .speed),
                "the speed 'best': the library for it would show other frames"
            ),
        ])
    func `a change is said in a clause, and leaves the result full`(finding: Finding, text: String) {
        #expect(finding.text == text)
        #expect(Diagnosis.result(.full, error: nil, diagnosis: Diagnosis(changes: [finding])) == "full")
    }

    @Test(
        arguments: [
            ([0, 0.04, 0.08, 5.12, 5.16], 5.2, 5.0), ([0, 0.04, 0.08, 0.12], 4.12, 3.96), ([0, 4, 8, 12], 16, 0),
            ([0.08, 0, 0.04, 0.9], 1, 0), ([0], 0.04, 0), ([], 0, 0), ([.nan, 1], .infinity, 0),
        ] as [([Double], Double, Double)])
    func `a gap is a second without a packet, and as long as ten`(times: [Double], end: Double, gaps: Double) {
        #expect(abs(DeliveredTrack.gaps(in: times, until: end) - gaps) < 0.001)
    }

    @Test func `every feature that is not supported has its words`() {
        for feature in UnsupportedFeature.allCases {
            let error = AttachmentError.unsupported(feature, "7 bits")
            #expect(error.code == .unsupportedFeature && !error.message.contains("…"), "\(error.message)")
            #expect(error.message.hasSuffix(".") && error.message.contains(". "), "\(error.message)")
        }
    }

    @Test(arguments: 0..<400)
    func `whatever the numbers are, each sentence is whole and no two numbers in it print the same`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let odd = [
            0, 1e-9, 0.004, 0.03, 0.5, 1, 2, 10.03, 59.996, 60, 62.03, 3600, 4000.5, 1e7, 1e18, 6.1e18, .infinity, .nan,
            -1,
        ]
        func amount() -> Double? { Bool.random(using: &random) ? odd.randomElement(using: &random) : nil }
        for code in Finding.Code.allCases {
            let part = Bool.random(using: &random) ? Finding.Part.allCases.randomElement(using: &random) : nil
            let finding = Finding(code, part, missing: amount(), of: amount(), named: "name")
            for text in [finding.text, finding.refusal, finding.phrase, finding.what, finding.cause] {
                #expect(!text.isEmpty && text.count < 500 && !text.contains("nan") && !text.contains("inf"), "\(text)")
                #expect(!text.contains("  ") && !text.contains("…") && !text.contains("-1"), "\(text)")
            }
            #expect(finding.refusal.hasSuffix("."))
            let (missing, total) = (finding.missing ?? 0, finding.total ?? 0)
            guard part == .sound || part == .video, missing > 0.01, total - missing > 0.01, total < 3e6 else {
                continue
            }
            for text in [finding.what, finding.phrase, finding.text] {
                let amount = /[0-9][0-9:.]*(?: (?:h|min) [0-9]+)?(?: s| min)?/
                for match in text.matches(
                    of: Regex {
                        Capture { amount }; " of "; Capture { amount }
                    })
                {
                    #expect(match.1 != match.2, "\(text)")
                }
            }
        }
    }
}
