import SatchelCore
import Foundation
import TestSupport

@testable import ClipCodecs
@testable import StillCodecs

/// Compares a part of a counted clip with what FFmpeg, to which edit lists matter, shows of the source then.
struct PartJudge {
    /// What is shown of the source.
    var source: CountedClips.Shown
    /// Seconds from the source's beginning.
    var start: Double
    /// Nil where it goes to the end.
    var duration: Double?
    /// Where that is on its clock, if not with its first picture or sound.
    var origin: Double?
    /// How many pictures more or fewer there may be at either end.
    var tolerance = 0
    /// Seconds by which the part is said to begin after `start`: the sound belongs to its pictures.
    var shift = 0.0

    private var from: Double { (origin ?? source.origin) + start }

    /// Of the whole source, in seconds.
    var length: Double {
        max((source.pictures.last?.time ?? 0) + 1 / CountedClips.rate, source.audioEnd ?? 0) - (origin ?? source.origin)
    }

    /// The pictures that are shown in the part, and when, in seconds of the part.
    var wanted: [CountedClips.Shown.Picture] {
        let end = duration.map { from + $0 } ?? .infinity
        let first = source.pictures.lastIndex { $0.time <= from + 0.005 } ?? 0
        let pictures = Array(source.pictures[first...].filter { $0.time < end - 0.005 })
        // Where two have the same time, at the seam of two edits, the first is not seen.
        return pictures.indices.filter { $0 + 1 == pictures.count || pictures[$0 + 1].time - pictures[$0].time > 0.002 }
            .map { pictures[$0] }
            .map { CountedClips.Shown.Picture(time: max(0, $0.time - from), number: $0.number) }
    }

    /// What is wrong with what is shown of the part; empty where nothing is.
    func problems(of shown: CountedClips.Shown) -> [String] {
        pictureProblems(of: shown) + (source.audioStart == nil ? [] : audioProblems(of: shown))
    }

    /// What the source's sound tells in the part, away from its edges: windows there reach beyond them.
    private var told: [(time: Double, told: Double)] {
        let end = duration.map { from + $0 } ?? source.audioEnd ?? 0
        return source.audioTimes.filter { $0.time > from + 0.06 && $0.time < end - 0.06 }
    }

    /// Whether anything is heard in the part.
    var hasAudio: Bool { !told.isEmpty }

    private func pictureProblems(of shown: CountedClips.Shown) -> [String] {
        let wanted = wanted
        let (numbers, wantedNumbers) = (shown.pictures.map(\.number), wanted.map(\.number))
        var offset = 0
        if numbers != wantedNumbers {
            let offsets = (-tolerance...tolerance).filter { offset in
                // Picture `i` of the part is picture `i + offset` of those that are wanted.
                numbers.enumerated().allSatisfy { index, number in
                    let place = index + offset
                    return wantedNumbers.indices.contains(place)
                        ? wantedNumbers[place] == number : place < 0 || place < wantedNumbers.count + tolerance
                }
            }
            guard tolerance > 0, let found = offsets.first,
                abs(numbers.count + found - wantedNumbers.count) <= tolerance
            else { return ["shows \(ranges(numbers)), not \(ranges(wantedNumbers))"] }
            offset = found
        }
        return numbers.indices.compactMap { index in
            guard wanted.indices.contains(index + offset) else { return nil }
            let difference = shown.pictures[index].time - wanted[index + offset].time
            return abs(difference) < 0.021 + 0.041 * Double(tolerance)
                ? nil : "shows \(numbers[index]) \(difference) s late"
        }.prefix(1).map { $0 }
    }

    private func audioProblems(of shown: CountedClips.Shown) -> [String] {
        let told = told
        guard hasAudio else { return [] }
        var worst = 0.0
        var missing: [Double] = []
        var wrong = 0
        for audio in told {
            let time = audio.time - from - shift
            guard let heard = shown.audioTimes.min(by: { abs($0.time - time) < abs($1.time - time) }),
                abs(heard.time - time) < 0.05
            else {
                missing.append(time)
                continue
            }
            let difference = heard.told - heard.time - (audio.told - time)
            if abs(difference) >= 0.02 { wrong += 1 }
            if abs(difference) > abs(worst) { worst = difference }
        }
        // Around an edit windows hold what is on both of its sides.
        let allowed = told.count / 6
        return
            (missing.count > allowed
            ? ["lacks sound at \(missing.first ?? 0) to \(missing.last ?? 0) s, \(missing.count) of \(told.count)"]
            : [])
            + (wrong > allowed ? ["its sound is up to \(worst) s off at \(wrong) of \(told.count) places"] : [])
    }

    private func ranges(_ numbers: [Int]) -> String {
        numbers.reduce(into: [ClosedRange<Int>]()) { ranges, number in
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
    }
}

extension CountedClips {
    /// `message` without stills.
    static var profile: Profile {
        var profile = Profile.message
        profile.thumbnail = nil
        profile.video?.poster = nil
        return profile
    }

    /// A part of `file`, and by which way it was made.
    static func part(_ file: URL, _ trim: TrimRequest?, sniffed: String? = nil) throws -> (
        file: URL, made: RenderedClip
    ) {
        guard
            let made = try Clips.render(
                file, profile: profile, request: RenditionRequest(trim: trim), sniffed: sniffed)
        else {
            throw Tool.Failure(description: "\(file.lastPathComponent) is not taken")
        }
        return (try made.file(.main), made)
    }
}
