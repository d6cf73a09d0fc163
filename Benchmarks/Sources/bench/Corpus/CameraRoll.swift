import Foundation

extension Inputs {
    /// A photograph of the corpus, before it is made.
    struct Shot: Hashable, Sendable {
        /// Of the stored pixels, always landscape.
        var width: Int
        var height: Int
        var orientation: CameraJPEG.Orientation
        /// Bytes for each pixel.
        var density: Double
    }

    /// 2 to 12 megapixels in 4:3, 3:2 and 16:9, as phones and cameras of the last twenty years take them; most are of the
    /// larger ones.
    private static let sizes = [
        (4032, 3024), (3264, 2448), (4272, 2848), (1632, 1224), (4032, 2268), (2592, 1944), (4000, 3000), (3888, 2592),
        (1920, 1080), (2048, 1536), (4096, 2304), (3456, 2304), (4032, 3024), (2400, 1600), (2560, 1440), (3264, 2448),
        (1728, 1152), (4272, 2848), (3840, 2160), (2592, 1944), (3000, 2000), (3264, 1836), (4032, 3024), (4608, 2592),
    ]

    static let shots = sizes.count

    /// Sizes are the same for every seed and repeat after ``shots``; a quarter is portrait by orientation.
    ///
    /// Real camera files of 12 megapixels have 1.8 to 4.9 MB (phones at the lower end, cameras at "fine" at the upper), so
    /// from 0.15 to 0.4 bytes for each pixel; smaller pictures have more, as there is more in a pixel. These have 0.25
    /// to 0.4.
    static func shot(_ index: Int, seed: UInt64) -> Shot {
        var random = SplitMix(seed: seed, "shot", index)
        let size = sizes[index % sizes.count]
        let orientation: CameraJPEG.Orientation =
            switch index % 8 {
            case 2: .quarterTurn
            case 5: .threeQuarterTurn
            case 7 where index % 16 == 7: .halfTurn
            default: .upright
            }
        return Shot(width: size.0, height: size.1, orientation: orientation, density: random.between(0.25, 0.4))
    }

    /// Photographs of 2 to 12 megapixels.
    ///
    /// - Parameter group: Those of one group have the sizes of those of another, and different contents.
    func photographs(group: Int) throws -> Directory {
        try made("photographs-\(group)", Self.shots, named: "jpg") { index, file, scratch in
            let number = group * Self.shots + index
            let shot = Self.shot(number, seed: seed)
            let scene = Scene(width: shot.width, height: shot.height, seed: seed, "photograph", number)
            try CameraJPEG.write(
                scene, to: file, bytes: Int(Double(shot.width * shot.height) * shot.density),
                orientation: shot.orientation, scratch: scratch)
        }
    }

    /// Photographs of one size, 4:3, with 0.3 bytes for each pixel.
    func photographs(width: Int, _ count: Int, group: Int) throws -> Directory {
        try made("photographs-of-\(width)-\(group)", count, named: "jpg") { index, file, scratch in
            let height = width * 3 / 4
            let scene = Scene(
                width: width, height: height, seed: seed, "photograph of \(width)", group * 100 + index)
            try CameraJPEG.write(
                scene, to: file, bytes: width * height * 3 / 10, orientation: .upright, scratch: scratch)
        }
    }

    /// Pictures of about 20 kB, 360 to 480 pixels wide.
    func storm(_ count: Int) throws -> Directory {
        try made("storm", count, named: "jpg") { index, file, scratch in
            var random = SplitMix(seed: seed, "storm size", index)
            let width = 360 + Int(random.next() % 121)
            let scene = Scene(width: width, height: width * 3 / 4, seed: seed, "storm", index)
            try CameraJPEG.write(
                scene, to: file, bytes: 17_000 + Int(random.next() % 6000), orientation: .upright, scratch: scratch)
        }
    }

    /// Files that are made one by one from the seed, on all processors, in a directory of their own. It is there when all
    /// of them are.
    func made(
        _ name: String, _ count: Int, named fileExtension: String,
        _ make: @escaping @Sendable (_ index: Int, _ file: URL, _ scratch: URL) throws -> Void
    ) throws -> Directory {
        try made(name, count, named: { _ in fileExtension }, make)
    }

    /// The same where files are of several kinds.
    func made(
        _ name: String, _ count: Int, named fileExtension: @escaping @Sendable (_ index: Int) -> String,
        _ make: @escaping @Sendable (_ index: Int, _ file: URL, _ scratch: URL) throws -> Void
    ) throws -> Directory {
        let home = directory.appending(path: "seed-\(seed)", directoryHint: .isDirectory)
        let place = home.appending(path: "\(name)-\(count)", directoryHint: .isDirectory)
        let done = Directory(url: place)
        if try done.files.count == count { return done }
        Progress.say("making the inputs: \(name)")
        let making = home.appending(path: "\(name)-\(count).part", directoryHint: .isDirectory)
        let scratch = home.appending(path: "\(name)-\(count).scratch", directoryHint: .isDirectory)
        for place in [place, making, scratch] { try? FileManager.default.removeItem(at: place) }
        for place in [making, scratch] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        let next = Counter()
        try Clients.run(Machine.usableCores.count) { _ in
            while case let index = next.next(), index < count {
                if index.isMultiple(of: 100) { Progress.say("making the inputs: \(name), \(index) of \(count)") }
                try make(index, making.appending(path: String(format: "%05d.", index) + fileExtension(index)), scratch)
            }
        }
        try FileManager.default.removeItem(at: scratch)
        try FileManager.default.moveItem(at: making, to: place)
        return done
    }
}
