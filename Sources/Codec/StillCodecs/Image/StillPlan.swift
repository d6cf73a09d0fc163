import SatchelCore

/// One encode of a still.
struct StillAttempt: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        /// Lossy.
        case quality(Int)
        /// PNG with all colours.
        case truecolour
        /// The same of the source's own colours, which are Display P3.
        case displayP3
        /// PNG with at most 256 colours.
        case palette
        /// WebP by ``PlainWebP``.
        case plain
    }

    var type: MediaType
    var form: Form
    var size: PixelSize
    /// At what resolution a JPEG keeps colours; nil where the encoder decides by the picture.
    var chroma: ChromaResolution?
    /// Whether it fits the cap by arithmetic.
    var isBounded = false
}

/// Which encodes to try until a still suits its policy: a value without input or output.
///
/// The attempts lie on a ladder from the best to the worst: quality after quality, then fewer and fewer pixels. A rung
/// suits if its bytes are within its limit: the aim, or the cap from the lowest quality that the policy wants for an aim.
/// The best rung that suits is searched between one that does and one that doesn't; ``ByteModel`` says where. The last
/// attempt is none of the ladder's: it is as large as the format's arithmetic allows under the cap.
///
/// Beside JPEG a picture of ``FineColours`` has a rival, PNG without loss, where the policy allows PNG: it is tried second,
/// and wins where it is within the aim and smaller, or where nothing else keeps the lowest quality under the cap.
struct StillPlan: Sendable {
    /// Attempts that were made, with their bytes.
    private(set) var attempts: [Made] = []
    /// Of ``attempts``, the one to deliver so far.
    private(set) var best: Made?
    /// What is to be encoded now; nil at the end.
    private(set) var next: StillAttempt?

    struct Made: Hashable, Sendable {
        var attempt: StillAttempt
        var bytes: Int64
    }

    let policy: StillPolicy
    /// The size that is wanted.
    let size: PixelSize
    let channels: Int
    /// Bytes that all colours were expected to take, where that is why they were not tried.
    let expectedTruecolour: Int64?
    /// What makes PNG a rival of JPEG; nil where there is nothing of the kind.
    let fine: FineColours?
    /// What a PNG that may be kept would be.
    private let kept: StillAttempt
    /// The rival itself, where it was tried.
    private(set) var rival: Made?

    static let mostEncodes = 6
    /// Refining what suits already ends here, and trying for the aim's sake alone.
    private static let mostRefinements = 3
    /// The same where quality or pixels were given up for the cap.
    private static let mostRescues = 5
    /// What suits and takes less of its limit than this is worth another encode.
    private static let wellUsed = 0.85
    /// What an estimate of all colours must be over the aim so that they are not tried.
    private static let tooMuch = 1.25

    private let ladder: [Stretch]
    /// The worst rung that was too large, and the best that suited.
    private var high: Rung?
    private var low: Rung?
    private var models: [Coding: ByteModel] = [:]
    private let chroma: ChromaResolution?
    private let hasRival: Bool
    /// What is tried second, and what the ladder has after that.
    private var upcoming: (rival: StillAttempt, after: StillAttempt?)?

    /// - Parameters:
    ///   - size: Of the picture.
    ///   - channels: 3, or 4 where it is transparent.
    ///   - truecolour: Bytes that PNG with all colours is expected to take; nil where that isn't known.
    ///   - fine: Of a picture whose colours JPEG should keep whole.
    ///   - keeping: What a PNG that may be kept is written as.
    init(
        _ policy: StillPolicy, size: PixelSize, channels: Int, truecolour: Int64? = nil, fine: FineColours? = nil,
        keeping: StillAttempt.Form = .truecolour
    ) {
        self.policy = policy
        self.channels = channels
        let suitable = policy.types.filter { channels == 3 || $0.hasTransparency }
        let types = suitable.isEmpty ? [MediaType.jpeg] : suitable
        let usable = types.filter { size.longestSide <= $0.mostPixelsOfASide }
        let side = types.map(\.mostPixelsOfASide).max() ?? size.longestSide
        let chosen = usable.isEmpty ? types.filter { $0.mostPixelsOfASide == side } : usable
        self.size = usable.isEmpty ? size.within(side) : size
        kept = StillAttempt(type: .png, form: keeping, size: self.size)
        let lossy = chosen.first { $0 != .png }
        let aim = min(policy.aim ?? policy.cap, policy.cap)
        let skips = truecolour.map { Double($0) > Double(aim) * Self.tooMuch } ?? false
        expectedTruecolour = chosen.first == .png && skips ? truecolour : nil
        var ladder: [Stretch] = []
        if chosen.first == .png, !skips { ladder.append(Stretch(coding: .truecolour, values: .one)) }
        let coding = lossy.map(Coding.lossy) ?? .palette
        let lowest = policy.isFixed ? 1 : min(Self.lowestQuality, policy.floorQuality)
        if lossy != nil {
            ladder.append(Stretch(coding: coding, values: .qualities(from: policy.quality, to: lowest)))
        } else {
            ladder.append(Stretch(coding: coding, values: .one))
        }
        if !policy.isFixed, self.size.longestSide > 1 {
            ladder.append(Stretch(coding: coding, values: .sides(below: self.size.longestSide, quality: lowest)))
        }
        self.ladder = ladder
        self.fine = lossy == .jpeg ? fine : nil
        chroma = self.fine.map { $0.isGrey || $0.areHalved ? .half : .full }
        hasRival = self.fine != nil && chosen.first != .png && chosen.contains(.png)
        next = attempt(at: Rung(stretch: 0, step: 0))
    }

    /// Where pixels may become fewer, quality isn't lowered further than this: below it neither JPEG nor WebP saves much.
    static let lowestQuality = 20

    /// The bytes to stay within, if the quality allows.
    var aim: Int64 { min(policy.aim ?? policy.cap, policy.cap) }

    /// Takes note of what ``next`` came to.
    mutating func record(_ bytes: Int64) {
        guard let attempt = next else { return }
        let made = Made(attempt: attempt, bytes: bytes)
        attempts.append(made)
        next = nil
        if attempt == upcoming?.rival {
            contest(made)
        } else {
            climb(made)
            if let fine, hasRival, attempts.count == 1, fine.isWorthTrying(besideJPEG: bytes) {
                upcoming = (rival: StillAttempt(type: .png, form: .truecolour, size: size), after: next)
                next = upcoming?.rival
            }
        }
        if let next, isRivalBest, isPoor(next) { self.next = nil }
    }

    /// Compares the rival with the first encode.
    private mutating func contest(_ made: Made) {
        rival = made
        if let first = best {
            if made.bytes < first.bytes { best = made }
            return
        }
        if made.bytes <= policy.cap { best = made }
        if made.bytes > aim { next = upcoming?.after }
    }

    /// Whether a PNG that may be kept, and takes so many bytes where it comes from, is worth an encode more.
    func isWorthKeeping(_ bytes: Int64) -> Bool {
        guard bytes <= aim, !attempts.contains(where: { $0.attempt == kept }) else { return false }
        return best.map { Double(bytes) <= Double($0.bytes) * 1.25 || hasLostColours($0.attempt) } ?? true
    }

    /// Takes note of what a PNG without loss came to that was tried last.
    mutating func recordKept(_ bytes: Int64) {
        let made = Made(attempt: kept, bytes: bytes)
        attempts.append(made)
        rival = made
        if bytes <= aim, best.map({ bytes <= $0.bytes || isPoor($0.attempt) || hasLostColours($0.attempt) }) ?? true {
            best = made
        }
    }

    /// What stands against keeping a PNG of so many bytes, once all is encoded; nil where it is kept.
    func obstacle(toKeeping bytes: Int64) -> KeepingObstacle? {
        let made = attempts.first { $0.attempt == kept }
        if let obstacle = policy.obstacle(bytes: made?.bytes ?? bytes) { return obstacle }
        guard let best, best != made else { return nil }
        return .rival(best.attempt.type)
    }

    /// Whether an encode has all pixels, but not in the colours that may be kept. It has no profile, and is always smaller.
    private func hasLostColours(_ attempt: StillAttempt) -> Bool {
        kept.form == .displayP3 && attempt.form == .truecolour
    }

    private var isRivalBest: Bool { rival != nil && best == rival }

    /// Whether an encode gives up more than an aim is worth.
    private func isPoor(_ attempt: StillAttempt) -> Bool {
        attempt.isBounded || attempt.size != size || attempt.quality.map { $0 < policy.floorQuality } ?? false
    }

    /// Takes what suits its rung for the best, unless the rival, which the aim is below, is better.
    private mutating func settle(for made: Made) {
        if isRivalBest, let rival, isPoor(made.attempt) || made.bytes > aim && made.bytes >= rival.bytes { return }
        best = made
    }

    /// Finds the next rung after `made`.
    private mutating func climb(_ made: Made) {
        let (attempt, bytes) = (made.attempt, made.bytes)
        if attempt.isBounded {
            if bytes <= policy.cap { settle(for: made) }
            return
        }
        guard let rung = rung(of: attempt) else { return }
        let coding = ladder[rung.stretch].coding
        models[coding, default: coding.model].add(
            ByteModel.Sample(quality: attempt.quality, pixels: attempt.size.area, bytes: bytes))
        if bytes <= limit(rung) {
            low = rung
            settle(for: made)
            if isWorthRefining(rung, bytes), let better = choose() { next = self.attempt(at: better) }
        } else {
            high = rung
            if attempts.count >= Self.mostEncodes { return }
            if low != nil {
                if attempts.count < mostTries, let better = choose() { next = self.attempt(at: better) }
            } else {
                next = self.attempt(below: rung)
            }
        }
    }

    /// What is tried after `rung` was too large, and nothing suits yet.
    private func attempt(below rung: Rung) -> StillAttempt? {
        let sure = bounded()
        guard attempts.count < Self.mostEncodes - 1, let choice = choose() else { return sure }
        let wanted = attempt(at: choice)
        guard let sure, case .sides = ladder[choice.stretch].values, sure.size.area >= wanted.size.area else {
            return wanted
        }
        return sure
    }

    /// Whether what suits leaves so much of its limit that a better rung may suit too.
    private func isWorthRefining(_ rung: Rung, _ bytes: Int64) -> Bool {
        guard high != nil, attempts.count < mostTries else { return false }
        return Double(bytes) < Double(limit(rung.better)) * Self.wellUsed
    }

    private var mostTries: Int {
        guard let best else { return Self.mostRefinements }
        let isBelow = best.attempt.size != size || best.attempt.quality.map { $0 < policy.floorQuality } ?? false
        return isBelow ? Self.mostRescues : Self.mostRefinements
    }

    // MARK: The ladder

    /// The bytes within which a rung suits.
    private func limit(_ rung: Rung) -> Int64 {
        guard let rung = valid(rung) else { return aim }
        switch ladder[rung.stretch].values {
        case .one: return ladder[rung.stretch].coding == .truecolour ? aim : policy.cap
        case .qualities(let from, _): return from - rung.step > policy.floorQuality ? aim : policy.cap
        case .sides: return policy.cap
        }
    }

    /// The rung itself, or the last of the stretch before where it lies before the first of its own.
    private func valid(_ rung: Rung) -> Rung? {
        if rung.step >= 0 { return rung }
        guard rung.stretch > 0 else { return nil }
        return Rung(stretch: rung.stretch - 1, step: ladder[rung.stretch - 1].count - 1)
    }

    private func attempt(at rung: Rung) -> StillAttempt {
        let stretch = ladder[rung.stretch]
        let type = stretch.coding.type
        switch stretch.values {
        case .one:
            return StillAttempt(type: type, form: stretch.coding == .truecolour ? .truecolour : .palette, size: size)
        case .qualities(let from, _):
            return StillAttempt(type: type, form: .quality(from - rung.step), size: size, chroma: chroma)
        case .sides(let below, let quality):
            let smaller = size.within(below - 1 - rung.step)
            return StillAttempt(
                type: type, form: stretch.coding == .palette ? .palette : .quality(quality), size: smaller,
                chroma: stretch.coding == .palette ? nil : chroma)
        }
    }

    private func rung(of attempt: StillAttempt) -> Rung? {
        for (index, stretch) in ladder.enumerated() where stretch.coding.type == attempt.type {
            switch (stretch.values, attempt.form) {
            case (.one, .truecolour) where stretch.coding == .truecolour: return Rung(stretch: index, step: 0)
            case (.one, .palette) where stretch.coding == .palette && attempt.size == size:
                return Rung(stretch: index, step: 0)
            case (.qualities(let from, _), .quality(let quality)) where attempt.size == size:
                return Rung(stretch: index, step: from - quality)
            case (.sides(let below, _), _) where attempt.size != size:
                return Rung(stretch: index, step: below - 1 - attempt.size.longestSide)
            default: continue
            }
        }
        return nil
    }

    /// The best rung between ``high`` and ``low`` that is expected to suit; nil where there is none.
    private func choose() -> Rung? {
        guard let high else { return nil }
        let last = low?.stretch ?? ladder.count - 1
        for index in high.stretch...max(high.stretch, last) {
            let first = index == high.stretch ? high.step + 1 : 0
            let end = low.flatMap { $0.stretch == index ? $0.step : nil } ?? ladder[index].count
            guard first < end else { continue }
            let steps = first..<end
            if let step = choose(from: steps, in: index) { return Rung(stretch: index, step: step) }
        }
        return nil
    }

    private func choose(from steps: Range<Int>, in index: Int) -> Int? {
        let stretch = ladder[index]
        // Nothing is known yet of another coding.
        guard models[stretch.coding] != nil else { return steps.lowerBound }
        if case .qualities(let from, _) = stretch.values {
            let floor = from - policy.floorQuality
            // The aim was tried often enough.
            if low == nil, attempts.count >= Self.mostRefinements, steps.lowerBound < floor, steps.contains(floor) {
                return floor
            }
            return steps.first { isExpectedToSuit(Rung(stretch: index, step: $0)) }
        }
        // Fewer pixels are never expected to take more.
        var (above, below) = (steps.lowerBound - 1, steps.upperBound)
        while below - above > 1 {
            let middle = (above + below) / 2
            if isExpectedToSuit(Rung(stretch: index, step: middle)) { below = middle } else { above = middle }
        }
        return below < steps.upperBound ? below : nil
    }

    /// Below the limit by so much that it is likely: the further the model has to reach, and the more attempts there were,
    /// the more.
    private func isExpectedToSuit(_ rung: Rung) -> Bool {
        let attempt = attempt(at: rung)
        guard
            let expected = models[ladder[rung.stretch].coding]?.bytes(
                quality: attempt.quality, pixels: attempt.size.area), let last = attempts.last
        else { return true }
        let limit = Double(limit(rung))
        let reach = min(1, max(0, Double(last.bytes) / limit - 1))
        let caution = [0.97, 0.97, 0.97, 0.9, 0.75][min(attempts.count, 4)]
        return expected <= limit * caution * (1 - 0.06 * reach)
    }

    // MARK: The last attempt

    /// The most pixels whose worst case fits the cap; nil where a fixed resolution leaves no choice.
    private func bounded() -> StillAttempt? {
        let quality = min(Self.lowestQuality, policy.floorQuality)
        var best: StillAttempt?
        for type in policy.types {
            for way in BoundedStill.ways(of: type, channels: channels) {
                guard let size = largest(way) else { continue }
                let attempt = StillAttempt(type: type, form: way.form(quality: quality), size: size, isBounded: true)
                if best.map({ $0.size.area < size.area }) ?? true { best = attempt }
            }
        }
        return best
    }

    private func largest(_ way: BoundedStill) -> PixelSize? {
        let most = min(size.longestSide, way.type.mostPixelsOfASide)
        if way.mostBytes(size.within(most)) <= policy.cap { return size.within(most) }
        guard !policy.isFixed else { return nil }
        var (fits, over) = (0, most)
        while over - fits > 1 {
            let middle = (fits + over) / 2
            if way.mostBytes(size.within(middle)) <= policy.cap { fits = middle } else { over = middle }
        }
        return fits > 0 ? size.within(fits) : nil
    }
}

/// What a stretch of the ladder is written with.
private enum Coding: Hashable, Sendable {
    case lossy(MediaType)
    case truecolour
    case palette

    var type: MediaType {
        switch self {
        case .lossy(let type): type
        case .truecolour, .palette: .png
        }
    }

    var model: ByteModel { ByteModel(type, hasPalette: self == .palette) }
}

/// A part of the ladder, along which one thing gets worse.
private struct Stretch: Hashable, Sendable {
    enum Values: Hashable, Sendable {
        case one
        case qualities(from: Int, to: Int)
        /// Longest sides, down to one pixel.
        case sides(below: Int, quality: Int)
    }

    var coding: Coding
    var values: Values

    var count: Int {
        switch values {
        case .one: 1
        case .qualities(let from, let to): from - to + 1
        case .sides(let below, _): below - 1
        }
    }
}

/// A place on the ladder; steps count from 0, the best.
private struct Rung: Hashable, Sendable {
    var stretch: Int
    var step: Int

    /// Perhaps before the first of its stretch.
    var better: Rung { Rung(stretch: stretch, step: step - 1) }
}

extension StillAttempt {
    var quality: Int? {
        if case .quality(let quality) = form { quality } else { nil }
    }
}

extension BoundedStill {
    func form(quality: Int) -> StillAttempt.Form {
        switch self {
        case .jpeg: .quality(quality)
        case .png: .truecolour
        case .palettePNG: .palette
        case .plainWebP: .plain
        }
    }
}

extension MediaType {
    var hasTransparency: Bool { format.still?.hasTransparency ?? false }

    var mostPixelsOfASide: Int { format.still?.longestSide ?? .max }
}

extension PixelSize {
    /// This size, or the one with the same shape whose longest side is `side`; at least one pixel.
    func within(_ side: Int) -> PixelSize {
        side >= longestSide ? self : scaled(to: max(1, side), of: longestSide)
    }
}
