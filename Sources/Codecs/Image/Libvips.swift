import Attachments
import CVips
import Synchronization

/// libvips as a whole.
enum Libvips {
    private static let isReady = Mutex(false)

    /// Initialises libvips and allows it to load and save what the list below says, and nothing else.
    ///
    /// Starts no thread.
    static func prepare() throws(AttachmentError) {
        let missing = isReady.withLock { isReady -> String? in
            if isReady { return nil }
            guard satchel_vips_start() == 0 else { return "libvips does not start" }
            // One worker: equal throughput over many processes, and less memory.
            vips_concurrency_set(1)
            // A process has one source; nothing is asked for twice.
            vips_cache_set_max(0)
            allow()
            let lacking = needed.first { unsafe satchel_operation_exists($0) == 0 }
            guard let name = lacking else {
                isReady = true
                return nil
            }
            return "libvips lacks \(name)"
        }
        if let missing { throw .codecCrashed(reason: missing) }
    }

    /// Everything that reads or writes a file is blocked first. JXL counts as untrusted for libvips, and is allowed
    /// by name; BMP is left to FFmpeg, because only ImageMagick would load it here.
    private static func allow() {
        vips_block_untrusted_set(1)
        unsafe vips_operation_block_set("VipsForeign", 1)
        for name in families { unsafe vips_operation_block_set(name, 0) }
    }

    private static let families = [
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadNsgif", "VipsForeignLoadWebp",
        "VipsForeignLoadTiff", "VipsForeignLoadHeif", "VipsForeignLoadJxl",
        "VipsForeignSaveJpeg", "VipsForeignSavePng", "VipsForeignSaveSpng", "VipsForeignSaveWebp",
        "VipsForeignSaveCgif",
    ]

    /// Looking an operation up registers it and, for HEIF and JXL, loads its module, which must not happen later.
    private static let needed = [
        "jpegload_source", "pngload_source", "gifload_source", "webpload_source", "tiffload_source",
        "heifload_source", "jxlload_source",
        "jpegsave_buffer", "pngsave_buffer", "webpsave_buffer", "gifsave_buffer",
    ]

    /// Objects of libvips that are alive in this process; none once a source is done with.
    static var liveObjects: Int { Int(satchel_live_objects()) }
}
