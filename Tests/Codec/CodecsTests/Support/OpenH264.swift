import Foundation

/// Cisco's decoder: it shares no code with FFmpeg's, and is the one in browsers.
enum OpenH264 {
    /// The luma of all pictures, as they come out; any error of the decoder is one.
    static func luma(of url: URL, in directory: URL) throws -> Data {
        let base = directory.appending(path: "openh264-\(UUID().uuidString)").path
        let (stream, output) = ("\(base).h264", "\(base).gray")
        defer { for path in [stream, output] { try? FileManager.default.removeItem(atPath: path) } }
        try Tool.ffmpeg(
            ["-i", url.path, "-map", "0:v", "-c", "copy", "-bsf:v", "h264_mp4toannexb"], to: URL(filePath: stream))
        try Tool.run("python3", ["-c", script, stream, output])
        return try Data(contentsOf: URL(filePath: output))
    }

    /// Calls the library by the table of its C interface, `codec_api.h`.
    private static let script = """
        import ctypes, ctypes.util, re, sys
        # Its version is 7 on Debian 12 and 8 on 13; what is called here is the same in both.
        library = ctypes.CDLL(ctypes.util.find_library("openh264"))
        class Property(ctypes.Structure):
            _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int)]
        class Parameters(ctypes.Structure):
            _fields_ = [("file", ctypes.c_char_p), ("load", ctypes.c_uint), ("layer", ctypes.c_ubyte),
                        ("concealment", ctypes.c_int), ("parses", ctypes.c_bool), ("property", Property)]
        class Buffer(ctypes.Structure):
            _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int), ("format", ctypes.c_int), ("stride", ctypes.c_int * 2)]
        class Info(ctypes.Structure):
            _fields_ = [("status", ctypes.c_int), ("time", ctypes.c_ulonglong), ("out", ctypes.c_ulonglong),
                        ("buffer", Buffer), ("planes", ctypes.c_void_p * 3)]
        pointer = ctypes.POINTER
        decoder = ctypes.c_void_p()
        if library.WelsCreateDecoder(ctypes.byref(decoder)): sys.exit("no decoder")
        table = ctypes.cast(decoder, pointer(pointer(ctypes.c_void_p)))[0]
        def method(place, *types):
            return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *types)(table[place])
        initialize = method(0, pointer(Parameters))
        decode = method(4, ctypes.c_char_p, ctypes.c_int, pointer(ctypes.c_void_p), pointer(Info))
        flush = method(5, pointer(ctypes.c_void_p), pointer(Info))
        change = method(8, ctypes.c_int, ctypes.c_void_p)
        # No concealment: an error is an error.
        parameters = Parameters(layer=255, concealment=0, property=Property(ctypes.sizeof(Property), 0))
        if initialize(decoder, ctypes.byref(parameters)): sys.exit("no decoder")
        planes = (ctypes.c_void_p * 3)()
        data = open(sys.argv[1], "rb").read()
        output = open(sys.argv[2], "wb")
        def take(info):
            if info.status != 1: return False
            buffer = info.buffer
            rows = ctypes.string_at(info.planes[0] or planes[0], buffer.stride[0] * buffer.height)
            for row in range(buffer.height):
                output.write(rows[row * buffer.stride[0]:row * buffer.stride[0] + buffer.width])
            return True
        starts = [match.start() for match in re.finditer(b"\\0\\0\\1", data)] + [len(data)]
        for start, end in zip(starts, starts[1:]):
            unit = b"\\0" + data[start:end].rstrip(b"\\0")
            info = Info()
            if code := decode(decoder, unit, len(unit), planes, ctypes.byref(info)): sys.exit(f"error {code} at {start}")
            take(info)
        end = ctypes.c_int(1)
        change(decoder, 0, ctypes.cast(ctypes.byref(end), ctypes.c_void_p))
        info = Info()
        decode(decoder, None, 0, planes, ctypes.byref(info))
        take(info)
        while True:
            info = Info()
            flush(decoder, planes, ctypes.byref(info))
            if not take(info): break
        """
}
