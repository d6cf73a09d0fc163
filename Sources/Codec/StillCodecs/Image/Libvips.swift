package import SatchelCore
import CVips
import Synchronization

/// libvips as a whole.
package enum Libvips {
    /// What may be read; nil before libvips is initialised.
    private static let ready = Mutex<Set<PictureFormat>?>(nil)

    /// Initialises libvips, with these of its modules and none else, and allows it to load `formats`, to save what is written,
    /// and nothing else.
    ///
    /// Modules for ImageMagick, OpenSlide and Poppler stay away: nothing may use them, they bring 20 libraries, and loading
    /// them takes half of libvips' start. Starts no thread.
    static func prepare(_ formats: Set<PictureFormat>, modules: [String]) throws(AttachmentError) {
        let missing = ready.withLock { ready -> String? in
            if let ready, formats.isSubset(of: ready) { return nil }
            guard satchel_vips_start() == 0 else { return "libvips does not start" }
            for module in modules { unsafe satchel_load_module(module) }
            // One worker: equal throughput over many processes, and less memory.
            vips_concurrency_set(1)
            // A process has one source; nothing is asked for twice.
            vips_cache_set_max(0)
            let coders = formats.compactMap(\.loader) + savers
            allow(coders.flatMap(\.families))
            let lacking = (needed + coders.map(\.name)).first { unsafe satchel_operation_prepare($0) == 0 }
            guard let name = lacking else {
                ready = formats
                return nil
            }
            return "libvips lacks \(name)"
        }
        if let missing { throw .codecCrashed(reason: missing) }
    }

    package static var version: String { (0..<3).map { String(vips_version($0)) }.joined(separator: ".") }

    /// Everything that reads or writes a file is blocked first. JXL counts as untrusted for libvips, and is allowed
    /// by name; BMP is left to FFmpeg, because only ImageMagick would load it here.
    private static func allow(_ families: [String]) {
        vips_block_untrusted_set(1)
        unsafe vips_operation_block_set("VipsForeign", 1)
        for name in families { unsafe vips_operation_block_set(name, 0) }
    }

    private static let savers = FileFormat.all.flatMap { [$0.still?.saver, $0.animation?.saver] }.compactMap(\.self)

    /// What is used beside the formats' own, and what that uses. Looking an operation up registers it, which must not happen
    /// later; setting it up here saves every fork the time.
    private static let needed = [
        "copy", "extract_area", "extract_band", "cast", "colourspace", "icc_transform", "autorot", "rot", "flip",
        "resize", "shrink", "shrinkh", "shrinkv", "reduce", "reduceh", "reducev", "affine", "premultiply",
        "unpremultiply", "flatten", "smartcrop", "min", "sequential", "linecache", "tilecache", "embed",
        "relational_const", "boolean", "linear", "abs", "ifthenelse", "black", "profile_load",
    ]
}

extension LinkedLibrary {
    /// libvips, for `formats`; `modules` names those of its modules that read some of them.
    package static func libvips(reading formats: [PictureFormat], modules: [String] = []) -> LinkedLibrary {
        LinkedLibrary(.libvips, version: { Libvips.version }) { () throws(AttachmentError) in
            try Libvips.prepare(Set(formats), modules: modules)
        }
    }
}
