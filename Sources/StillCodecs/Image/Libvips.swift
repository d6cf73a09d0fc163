import Attachments
import CVips
import FoundationEssentials
import Glibc
import Synchronization

/// libvips as a whole.
enum Libvips {
    private static let ready = Mutex<DecoderSet?>(nil)

    /// Initialises libvips and allows it to load and save what the list below says, and nothing else.
    ///
    /// Starts no thread.
    static func prepare(_ decoderSet: DecoderSet = .full) throws(AttachmentError) {
        let missing = ready.withLock { ready -> String? in
            if ready == .full || ready == decoderSet { return nil }
            guard start(decoderSet) == 0 else { return "libvips does not start" }
            // One worker: equal throughput over many processes, and less memory.
            vips_concurrency_set(1)
            // A process has one source; nothing is asked for twice.
            vips_cache_set_max(0)
            allow()
            let loaders = PictureFormat.all.filter { $0.needs == .common || decoderSet == .full }.compactMap(\.loader)
            let operations = needed + (loaders + savers).map(\.name)
            let lacking = operations.first { unsafe satchel_operation_prepare($0) == 0 }
            guard let name = lacking else {
                ready = decoderSet
                return nil
            }
            return "libvips lacks \(name)"
        }
        if let missing { throw .codecCrashed(reason: missing) }
    }

    /// Without the modules for ImageMagick, OpenSlide and Poppler: nothing may use them, they bring 20 libraries, and
    /// loading them takes half of libvips' start.
    private static func start(_ decoderSet: DecoderSet) -> Int32 {
        guard decoderSet == .full else { return satchel_vips_start(0) }
        guard let directory = moduleDirectory else { return satchel_vips_start(1) }
        let result = satchel_vips_start(0)
        for name in ["heif", "jxl"] where result == 0 { unsafe satchel_load_module("\(directory)/vips-\(name).so") }
        // Without its decoders it says so of every picture.
        _ = satchel_heif_start()
        return result
    }

    static var version: String { (0..<3).map { String(vips_version($0)) }.joined(separator: ".") }

    /// Nil where the decoder set has none.
    static var heifVersion: String? { unsafe satchel_heif_version().map { unsafe String(cString: $0) } }

    static var jxlVersion: String? {
        let number = satchel_jxl_version()
        return number == 0 ? nil : "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    /// Beside the library, where its build put it; nil where the build has no modules.
    private static var moduleDirectory: String? {
        // The kernel gives a page at a time, which Foundation takes for the whole file.
        let file = unsafe open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let bytes = try? readBytes(file, count: 1 << 20),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                .first(where: { $0.contains("/libvips.so.") }),
            let start = line.firstIndex(of: "/"), let end = line.lastIndex(of: "/")
        else { return nil }
        let directory = "\(line[start..<end])/vips-modules-\(vips_version(0)).\(vips_version(1))"
        return FileManager.default.fileExists(atPath: directory) ? directory : nil
    }

    /// Everything that reads or writes a file is blocked first. JXL counts as untrusted for libvips, and is allowed
    /// by name; BMP is left to FFmpeg, because only ImageMagick would load it here.
    private static func allow() {
        vips_block_untrusted_set(1)
        unsafe vips_operation_block_set("VipsForeign", 1)
        for name in families { unsafe vips_operation_block_set(name, 0) }
    }

    private static let savers = FileFormat.all.flatMap { [$0.still?.saver, $0.animation?.saver] }.compactMap(\.self)

    private static let families =
        (PictureFormat.all.compactMap(\.loader) + savers).flatMap(\.families)

    /// What is used beside the formats' own, and what that uses. Looking an operation up registers it, which must not happen
    /// later; setting it up here saves every fork the time.
    private static let needed = [
        "copy", "extract_area", "extract_band", "cast", "colourspace", "icc_transform", "autorot", "rot", "flip",
        "resize", "shrink", "shrinkh", "shrinkv", "reduce", "reduceh", "reducev", "affine", "premultiply",
        "unpremultiply", "flatten", "smartcrop", "min", "sequential", "linecache", "tilecache", "embed",
        "relational_const", "boolean", "linear", "abs", "ifthenelse", "black",
    ]

    /// Objects of libvips that are alive in this process; none once a source is done with.
    static var liveObjects: Int { Int(satchel_live_objects()) }
}
