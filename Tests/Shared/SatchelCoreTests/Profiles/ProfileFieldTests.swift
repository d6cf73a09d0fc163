import Foundation
import TestSupport
import Testing

@testable import SatchelCore

/// The table of a profile's fields, and what is made from it.
@Suite struct ProfileFieldTests {
    /// A profile with every policy.
    private static var whole: Profile { .notification }

    @Test func `every property of a profile and its policies is a field, in the order of its declaration`() throws {
        func expect<Part: ProfilePart>(_ part: Part) {
            let properties = Mirror(reflecting: part).children.compactMap(\.label).map { label in
                label.replacing(#/([a-z0-9])([A-Z])/#) { "\($0.1)_\($0.2)" }.lowercased()
            }
            #expect(Part.fields.map(\.name) == properties, "\(Part.self)")
        }
        expect(Self.whole)
        expect(ThumbnailPolicy())
        expect(ImagePolicy())
        expect(AnimationPolicy())
        expect(VideoPolicy())
        expect(PosterPolicy())
        expect(AudioPolicy())
        expect(WaveformPolicy())
    }

    @Test func `every field is explained, in a sentence of its own`() {
        func expect(_ fields: [FieldDescription]) {
            for field in fields {
                #expect(field.summary.first?.isLetter == true && field.summary.last == ".", "\(field.name)")
                if case .part(_, let fields, _) = field.type { expect(fields) }
            }
        }
        expect(Profile.fields.map(\.description))
    }

    @Test func `a profile without a value that every profile has isn't read`() {
        let text = #"{"name": "a", "summary": "", "keeps_original": false, "thumbnail": {}}"#
        #expect(throws: DecodingError.self) { try JSON.decode(Profile.self, from: Data(text.utf8)) }
    }

    @Test func `any profile survives its JSON and its values, and whatever differs is written otherwise`() throws {
        var generator = SeededGenerator()
        var texts: [Profile: String] = [:]
        for _ in 0..<500 {
            var profile = Profile(name: "any")
            let values = Self.random(Profile.fields.map(\.description), using: &generator)
            #expect(profile.set(values) == [])
            let text = try JSON.text(profile)
            #expect(try JSON.decode(Profile.self, from: Data(text.utf8)) == profile, "\(text)")
            var again = Profile(name: "any")
            #expect(again.set(profile.values.members.filter { $0.name != "name" }) == [])
            #expect(again == profile)
            texts[profile] = text
        }
        #expect(Set(texts.values).count == texts.count && texts.count > 400)
    }

    @Test func `every range is kept at both ends, and a value beyond names key, value and range`() throws {
        var checked = 0
        func check(_ fields: [FieldDescription], _ path: [String]) throws {
            for field in fields {
                let path = path + [field.name]
                let (within, beyond): ([PlainValue], [PlainValue])
                switch field.type {
                case .part(_, let fields, _):
                    try check(fields, path)
                    continue
                case .integer(let range, _):
                    within = [.integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound))]
                    beyond = [
                        .integer(Int64(range.lowerBound - 1)), .integer(Int64(range.upperBound + 1)), .integer(.min),
                    ]
                case .seconds(let range):
                    within = [.number(range.lowerBound), .number(range.upperBound)]
                    beyond = [
                        .number(range.lowerBound.nextDown), .number(range.upperBound.nextUp), .number(.nan),
                        .number(.infinity),
                    ]
                case .choice(let words) where words.contains("image/jpeg") || words == ["video/mp4"]:
                    (within, beyond) = (words.map(PlainValue.text), [.text("image/tiff")])
                case .choice(let words): (within, beyond) = (words.map(PlainValue.text), [])
                case .list(let words): (within, beyond) = ([.list([words[0]])], [.list([]), .list(["image/tiff"])])
                case .colour:
                    (within, beyond) = ([.text("#0aF9b2")], [.text("white"), .text("#12345"), .text("#12345g")])
                default: continue
                }
                checked += 1
                let key = path.joined(separator: ".")
                for value in within {
                    let problems = Self.problems(setting: value, at: path).filter {
                        $0.key == key && $0.remedy == "must be \(field.expected)"
                    }
                    #expect(problems == [], "\(key): \(value)")
                }
                for value in beyond {
                    let problem = try #require(
                        Self.problems(setting: value, at: path).first { $0.key == key }, "\(key): \(value)")
                    #expect(problem.value == value.text && problem.remedy == "must be \(field.expected)")
                }
            }
        }
        try check(Profile.fields.map(\.description), [])
        #expect(checked > 25)
    }

    @Test func `what is of another type, or unknown, changes nothing and is told with what would do`() {
        var profile = Self.whole
        let problems = profile.set([
            .init("deadline", .text("soon")), .init("keeps_original", .text("maybe")), .init("speed", .text("faster")),
            .init("name", .text("other")), .init("colour", .text("red")),
            .init(
                "image",
                .object([.init("types", .text("jpeg")), .init("cap", .number(1.5)), .init("size", .integer(3))])),
            .init("video", .list([])),
        ])
        #expect(profile == Self.whole)
        let told = problems.map(\.description)
        for text in [
            "deadline: soon must be a number of seconds from 0.05 to 86400, or null",
            "keeps_original: maybe must be true or false", "speed: faster must be one of best, standard, fast",
            "name: is not a field",
            "colour: is not a field; must be one of summary, deadline",
            "image.types: jpeg must be a list of image/jpeg, image/png, image/webp",
            "image.cap: 1.5 must be a whole number of bytes",
            "image.size: is not a field; must be one of types, longest_side",
            "video: none must be a mapping, or null",
        ] {
            #expect(told.contains { $0.hasPrefix(text) }, "\(text) in \(told)")
        }
        #expect(told.count == 9)
    }

    @Test func `fields that contradict each other are told`() {
        var profile = Self.whole
        profile.image?.minimumQuality = 83
        profile.image?.fit = .crop
        profile.image?.longestSide = nil
        profile.audio?.types = [.mp3, .m4a]
        let told = profile.problems().map(\.description)
        #expect(
            told == [
                "image.fit: crop needs longest_side", "image.minimum_quality: 83 must be at most the quality of 82",
                "audio.types: audio/mpeg,audio/mp4 must not begin with audio/mpeg: MP3 is only copied, never encoded",
            ])
    }

    private static func problems(setting value: PlainValue, at path: [String]) -> [ProfileProblem] {
        var profile = whole
        let members = path.dropLast().reversed().reduce([PlainValue.Member(path[path.count - 1], value)]) {
            [PlainValue.Member($1, .object($0))]
        }
        let unread = profile.set(members)
        return unread + profile.problems()
    }

    private static func random(
        _ fields: [FieldDescription], using generator: inout SeededGenerator
    ) -> [PlainValue.Member] {
        fields.filter { $0.type != .name }.map { field in
            PlainValue.Member(field.name, random(field, using: &generator))
        }
    }

    private static func random(_ field: FieldDescription, using generator: inout SeededGenerator) -> PlainValue {
        if field.isOptional && Int.random(in: 0..<4, using: &generator) == 0 { return .nothing }
        switch field.type {
        case .text, .name: return .text(String("añ'\"\n: #{".shuffled(using: &generator)))
        case .colour: return .text("#" + String(Int.random(in: 0x100000...0xFFFFFF, using: &generator), radix: 16))
        case .flag: return .flag(.random(using: &generator))
        case .integer(let range, _): return .integer(Int64(Int.random(in: range, using: &generator)))
        case .bytes: return .integer(.random(in: 1...1 << 50, using: &generator))
        case .seconds(let range): return .number(.random(in: range, using: &generator))
        case .choice(let words): return .text(words.randomElement(using: &generator) ?? "")
        case .list(let words): return .list(Array(words.shuffled(using: &generator).prefix(2)))
        case .part(_, let fields, _): return .object(random(fields, using: &generator))
        }
    }
}
