import Foundation

extension Inputs {
    /// A photograph of the corpus, before it is made.
    struct Shot: Hashable, Sendable {
        /// Of the stored pixels, always landscape.
        var width: Int
        var height: Int
        var look: Scene.Look
        var file: CameraJPEG
    }

    private enum Origin {
        case camera
        /// Without a preview.
        case editor
        /// The same, and progressive.
        case site
    }

    /// Those of a camera or phone each: what people have of the last twenty years. Most have 2 to 8 megapixels, 6 on average, one
    /// 24; five have been through an editor or a site.
    private static let models: [(width: Int, height: Int, quality: Int, sampling: CameraJPEG.Sampling, from: Origin)] =
        [
            (3264, 2448, 95, .quarter, .camera), (2048, 1536, 90, .half, .camera), (3888, 2592, 96, .half, .camera),
            (1632, 1224, 93, .quarter, .camera), (2592, 1944, 94, .half, .camera), (1920, 1280, 85, .quarter, .site),
            (4032, 3024, 92, .quarter, .camera), (2816, 2112, 95, .half, .camera), (2048, 1536, 96, .full, .camera),
            (3072, 2304, 93, .quarter, .camera), (1600, 1200, 75, .half, .camera), (2560, 1440, 90, .quarter, .editor),
            (3008, 2000, 94, .half, .camera), (2592, 1944, 96, .quarter, .camera), (1920, 1080, 92, .quarter, .camera),
            (6000, 4000, 92, .half, .camera), (2272, 1704, 95, .half, .camera), (2048, 1365, 85, .quarter, .site),
            (3456, 2304, 97, .half, .camera), (2560, 1920, 88, .quarter, .editor), (2048, 1536, 95, .quarter, .camera),
            (3072, 2048, 90, .full, .editor), (3264, 1836, 96, .quarter, .camera), (2592, 1944, 93, .half, .camera),
        ]

    static let shots = models.count

    /// Sizes and settings are the same for every seed and repeat after ``shots``; a quarter is portrait by orientation.
    ///
    /// Scenes differ in light and depth: from a portrait in the sun, of which most is out of focus, to a landscape at
    /// dusk. That gives the 0.1 to 0.7 bytes for each pixel that camera files have.
    static func shot(_ index: Int, seed: UInt64) -> Shot {
        var random = SplitMix(seed: seed, "shot", index)
        let model = models[index % models.count]
        let orientation: CameraJPEG.Orientation =
            switch index % 8 {
            case 2: .quarterTurn
            case 5: .threeQuarterTurn
            case 7 where index % 16 == 7: .halfTurn
            default: .upright
            }
        let look = Scene.Look(
            noise: exp(random.between(log(1), log(4))), defocus: exp(random.between(log(1.0 / 600), log(1.0 / 120))),
            coverage: random.between(0.5, 1.3))
        return Shot(
            width: model.width, height: model.height, look: look,
            file: CameraJPEG(
                quality: model.quality, sampling: model.sampling, isProgressive: model.from == .site,
                orientation: orientation, hasPreview: model.from == .camera))
    }

    /// Photographs as cameras write them, 2 to 12 megapixels and one of 24.
    ///
    /// - Parameter group: Those of one group have the sizes of those of another, and different contents.
    func photographs(group: Int) throws -> Directory {
        try made("camera-files-\(group)", Self.shots, named: "jpg") { index, file, scratch in
            let number = group * Self.shots + index
            let shot = Self.shot(number, seed: seed)
            let scene = Scene(
                width: shot.width, height: shot.height, look: shot.look, seed: seed, "photograph", number)
            try shot.file.write(scene, to: file, scratch: scratch)
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
