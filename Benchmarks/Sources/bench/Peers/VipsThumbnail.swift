import Foundation

/// `vipsthumbnail`, called as people call it: once for each source and size.
enum Peer {
    /// The same sizes and qualities as the profile `notification`. One thread, because that costs it the least; Huffman
    /// tables as they come, which is quicker than the optimised ones that Satchel writes.
    static func calls(for source: String, into directory: URL) -> [Command] {
        let name = URL(filePath: source).deletingPathExtension().lastPathComponent
        func output(_ size: String, quality: Int) -> String {
            directory.appending(path: "\(name)-\(size).jpg").path(percentEncoded: false) + "[Q=\(quality),strip]"
        }
        let one = ["VIPS_CONCURRENCY": "1"]
        return [
            Command(
                "vipsthumbnail", [source, "--size", "1038", "-o", output("main", quality: 82)], environment: one),
            Command(
                "vipsthumbnail",
                [source, "--size", "256", "--smartcrop", "centre", "-o", output("thumbnail", quality: 78)],
                environment: one),
        ]
    }

    /// Refuses a peer whose outputs are not what is measured.
    static func check(_ source: String, in directory: URL) throws {
        let name = URL(filePath: source).deletingPathExtension().lastPathComponent
        for (size, expected) in [("main", "1038x779"), ("thumbnail", "256x256")] {
            let path = directory.appending(path: "\(name)-\(size).jpg").path(percentEncoded: false)
            let answer = directory.appending(path: "answer")
            var look = Command("vipsheader", [path])
            look.output = answer
            try look.run()
            let text = try String(contentsOf: answer, encoding: .utf8)
            guard text.contains(" \(expected) ") else {
                throw CommandFailure(command: ["vipsthumbnail", source], reason: "made \(text), not \(expected)")
            }
        }
    }
}
