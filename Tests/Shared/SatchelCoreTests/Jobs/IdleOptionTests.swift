import TestSupport
import Testing

@testable import SatchelCore

@Suite struct IdleOptionTests {
    private static let profile = Profile.notification

    private static func idle(
        _ request: RenditionRequest, _ kind: MediaKind, _ planned: [RenditionRole] = [.thumbnail, .main]
    ) -> [String] {
        request.idleOptions(for: kind, planned: planned, under: profile).map(\.name.rawValue)
    }

    @Test func `each option is told to be passed over just where it changes nothing`() {
        let trim = RenditionRequest(trim: TrimRequest(start: 1, duration: 2))
        let time = RenditionRequest(thumbnailTime: 1)
        let frame = RenditionRequest(thumbnailFrame: 3)
        let clip = RenditionRequest(thumbnailClippingRect: UnitRect(x: 0, y: 0, width: 1, height: 0.5))
        let rect = RenditionRequest(crop: .rect(UnitRect(x: 0, y: 0, width: 1, height: 0.5)))
        let applies: [(RenditionRequest, Set<MediaKind>)] = [
            (trim, [.animation, .audio, .video]), (time, [.video]), (frame, [.animation]),
            (clip, [.image, .animation, .video]),
            (rect, [.image, .animation, .video]),
        ]
        for (request, kinds) in applies {
            for kind in MediaKind.allCases {
                let planned: [RenditionRole] = kind == .audio ? [.waveform, .main] : [.thumbnail, .main]
                let idle = Self.idle(request, kind, planned)
                #expect(idle.count == (kinds.contains(kind) ? 0 : 1), "\(kind): \(request): \(idle)")
            }
        }
    }

    @Test func `a crop is of use where there is a picture, and a look where there is another shape`() {
        var profile = Self.profile
        let look = RenditionRequest(crop: .attention)
        #expect(Self.idle(look, .audio, [.main]) == ["crop"] && Self.idle(look, .audio, [.thumbnail, .main]) == [])
        #expect(Self.idle(look, .video, [.main]) == ["crop"])
        profile.thumbnail?.fit = .inside
        profile.image?.fit = .inside
        func idle(_ request: RenditionRequest) -> Int {
            request.idleOptions(for: .image, planned: [.thumbnail, .main], under: profile).count
        }
        #expect(idle(look) == 1)
        profile.image?.fit = .crop
        #expect(idle(look) == 0)
    }

    @Test func `a payload's moment, asked for in both ways, is passed over once or not at all`() {
        let both = RenditionRequest(thumbnailTime: 3, thumbnailFrame: 3)
        #expect(Self.idle(both, .video) == [] && Self.idle(both, .animation) == [])
        #expect(Self.idle(both, .image) == ["thumbnail_time"] && Self.idle(both, .audio) == ["thumbnail_time"])
        // A trim around it needs it.
        let around = RenditionRequest(trim: TrimRequest(start: nil, duration: 1), thumbnailTime: 3)
        #expect(Self.idle(around, .audio) == [] && Self.idle(around, .animation) == [])
        #expect(Self.idle(around, .image) == ["trim", "thumbnail_time"])
    }

    @Test func `the step names every option, in at most 200 characters`() throws {
        let all = RenditionRequest(
            trim: TrimRequest(start: 1), crop: .centre, thumbnailTime: 1,
            thumbnailClippingRect: UnitRect(x: 0, y: 0, width: 1, height: 1))
        for kind in MediaKind.allCases {
            let idle = all.idleOptions(for: kind, planned: [.main], under: Self.profile)
            guard let step = Step(idle) else { continue }
            let note = try #require(step.note)
            #expect(step.name == "options" && note.count <= 200 && !note.hasSuffix("."), "\(note.count): \(note)")
            for option in idle { #expect(note.contains(option.name.rawValue)) }
        }
        #expect(Step([]) == nil)
    }
}
