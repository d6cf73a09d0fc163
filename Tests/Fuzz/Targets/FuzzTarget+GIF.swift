import SatchelCore
import CSandbox
import GIF
import Glibc

@testable import StillCodecs

extension FuzzTarget {
    /// A GIF is read, shown and written anew as when it is kept. What was written has the same frames, and shows the same.
    static let gif = FuzzTarget("gif") { bytes in
        guard let source = gifSource(bytes) else { return }
        let size = (width: source.file.width, height: source.file.height)
        let areas = source.frames.prefix(12).map { $0.area.width * $0.area.height }
        // Larger ones say nothing more, and take longer.
        guard size.width * size.height <= 1 << 14, areas.reduce(0, +) <= 1 << 16 else { return }
        guard let (file, shown) = rewritten(source, size, count: areas.count) else { return }
        guard let again = gifSource(file), again.frames.count == shown.count, again.file.end == .marked else {
            preconditionFailure("what was written is no GIF of \(shown.count) frames")
        }
        let frames = GIFFrames(again, counting: nil)
        var canvas = Canvas(width: size.width, height: size.height)
        for picture in shown {
            guard (try? frames.show(on: &canvas)) != nil else { preconditionFailure("a frame can't be shown") }
            precondition(canvas.pixels == picture, "a frame shows something else")
        }
    }

    private static func gifSource(_ bytes: [UInt8]) -> GIFSource? {
        let file = csandbox_memory_file()
        defer { close(file) }
        guard file >= 0, unsafe write(file, bytes, bytes.count) == bytes.count else { return nil }
        return try? GIFSource(
            file, sniffed: Sniffed(type: "image/gif", head: Array(bytes.prefix(64))), limits: .service)
    }

    /// Its first frames, written anew, and what each of them shows; nil where one of them is nothing.
    private static func rewritten(
        _ source: GIFSource, _ size: (width: Int, height: Int), count: Int
    ) -> (file: [UInt8], shown: [[UInt32]])? {
        let frames = GIFFrames(source, counting: nil)
        var canvas = Canvas(width: size.width, height: size.height)
        let palette = source.file.palette.map { source.file.colours($0, in: source.bytes) } ?? []
        var writer = GIFRewriter(
            region: Rectangle(left: 0, top: 0, width: size.width, height: size.height), palette: palette,
            plays: source.file.plays)
        var file: [UInt8] = []
        var shown: [[UInt32]] = []
        for _ in 0..<count {
            guard let frame = try? frames.read(disposingOn: &canvas) else { return nil }
            writer.add(frame, indices: frames.indices, palette: frames.palette, over: canvas, delay: frame.delay)
            frames.draw(frame, on: &canvas)
            canvas.forgetChanges()
            shown.append(canvas.pixels)
            file += writer.take()
        }
        writer.finish()
        file += writer.take()
        let seen = writer.seenPalette
        if !seen.bytes.isEmpty { file.replaceSubrange(seen.offset..<seen.offset + seen.bytes.count, with: seen.bytes) }
        return (file, shown)
    }

    /// GIF's compression, undone: never more pixels than are asked for, and the same ones each time.
    static let lzw = FuzzTarget("lzw") { bytes in
        var input = FuzzInput(bytes)
        let codeSize = Int(input.byte() & 15)
        let wanted = Int(input.number(UInt16.self) & 0x3FFF)
        let data = input.bytes()
        var decoder = LZWDecoder()
        var first = [UInt8](repeating: 1, count: wanted)
        var pixels = first.mutableSpan
        let outcome = decoder.decode(data.span, codeSize: codeSize, into: &pixels)
        let filled =
            switch outcome {
            case .complete: wanted
            case .short(let count), .invalid(let count): count
            }
        precondition((0...wanted).contains(filled), "it has more pixels than there are places")
        precondition(first[filled...].allSatisfy { $0 == 1 }, "a pixel was written behind the last one")
        var second = [UInt8](repeating: 1, count: wanted)
        var others = second.mutableSpan
        // What a decoder keeps of one picture says nothing of the next.
        precondition(decoder.decode(data.span, codeSize: codeSize, into: &others) == outcome)
        precondition(first == second, "the same codes come out otherwise")
    }
}
