import SatchelCore
import CJPEG
import CScaling

/// A JPEG that is decoded plane by plane: light, and the colours at the resolution in which they were coded.
@safe
struct JPEGReader: ~Copyable {
    private let handle: OpaquePointer
    private let planes: [satchel_jpeg_plane]
    private let shrink: Int
    private let chroma: ChromaResolution

    /// Opens a JPEG, for `1 / shrink` of its sides.
    ///
    /// - Parameters:
    ///   - bytes: Live as long as the reader.
    ///   - shrink: 1, 2, 4 or 8.
    ///   - chroma: The resolution at which colours are wanted, beside that of light: half is what an encoder keeps that
    ///     halves them, and saves half of the work.
    ///   - isLenient: What is damaged or missing is grey, and no failure.
    /// - Returns: nil where it has other components than those of YCbCr.
    static func open(
        _ bytes: UnsafeRawBufferPointer, shrink: Int, chroma: ChromaResolution, isLenient: Bool = false
    ) throws(VipsFailure) -> JPEGReader? {
        guard let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress,
            let handle = unsafe satchel_jpeg_open(start, bytes.count, Int32(shrink), WorkTime.stops)
        else { throw VipsFailure(text: "out of memory") }
        if isLenient { unsafe satchel_jpeg_tolerate(handle) }
        var planes = [satchel_jpeg_plane](repeating: satchel_jpeg_plane(), count: 3)
        var result = unsafe satchel_jpeg_read_header(handle)
        if result == 1 { result = unsafe satchel_jpeg_start(handle, chroma == .half ? 1 : 0, &planes) < 0 ? -1 : 1 }
        guard result == 1 else {
            let text = unsafe String(cString: satchel_jpeg_message(handle))
            unsafe satchel_jpeg_close(handle)
            if result == 0 { return nil }
            throw VipsFailure(text: text)
        }
        return unsafe JPEGReader(handle: handle, planes: planes, shrink: shrink, chroma: chroma)
    }

    private init(handle: OpaquePointer, planes: [satchel_jpeg_plane], shrink: Int, chroma: ChromaResolution) {
        unsafe self.handle = handle
        self.planes = planes
        self.shrink = shrink
        self.chroma = chroma
    }

    deinit {
        unsafe satchel_jpeg_close(handle)
    }

    /// Decodes, and scales the part of the picture in `area` to RGB of `size`, in memory; without a colour profile.
    ///
    /// Each plane is scaled by itself, by the same kernel, so that nothing is interpolated or converted that is left out
    /// afterwards. Where a decoder would have interpolated colours first, its weights are folded into the kernel's.
    ///
    /// - Parameters:
    ///   - area: In pixels of the picture as stored.
    ///   - whole: The size of the picture as stored.
    ///   - end: Becomes what follows the last row, where all rows were read.
    consuming func scaled(
        _ area: Area, of whole: PixelSize, to size: PixelSize, end: inout DataEnd?
    ) throws(VipsFailure) -> Picture {
        var scalers: [RowScaler] = []
        var buffers: [[UInt8]] = []
        for (index, plane) in planes.enumerated() {
            let isHalved = index > 0 && chroma == .half
            let across = weights(area.across, of: whole.width, \.across, \.width, in: plane, to: size.width, isHalved)
            let down = weights(area.down, of: whole.height, \.down, \.height, in: plane, to: size.height, isHalved)
            scalers.append(RowScaler(across: across, down: down, bands: 1, chunk: Int(plane.rows)))
            buffers.append([UInt8](repeating: 0, count: plane.stride * Int(plane.rows) + RowScaler.slack))
        }
        var tops = [0, 0, 0]
        while !scalers.allSatisfy(\.isComplete) {
            try read(into: &buffers)
            for index in 0..<3 {
                let end = min(tops[index] + Int(planes[index].rows), Int(planes[index].height))
                guard tops[index] < end else { continue }
                unsafe buffers[index].withUnsafeBufferPointer {
                    unsafe scalers[index].add($0, stride: planes[index].stride, rows: tops[index]..<end)
                }
                tops[index] = end
            }
        }
        end = DataEnd()
        if tops[0] >= Int(planes[0].height) {
            end?.hasMarker = unsafe satchel_jpeg_has_end(handle) != 0
            end?.leftOver = unsafe satchel_jpeg_left_over(handle)
        }
        let pixels = try PixelMemory(size)
        let isHalved = chroma == .half
        let stride = isHalved ? (size.width + 1) / 2 : size.width
        let (light, blue, red) = (scalers[0].result, scalers[1].result, scalers[2].result)
        unsafe pixels.fill { to in
            unsafe light.withUnsafeBufferPointer { light in
                unsafe blue.withUnsafeBufferPointer { blue in
                    unsafe red.withUnsafeBufferPointer { red in
                        guard let light = light.baseAddress, let blue = blue.baseAddress, let red = red.baseAddress
                        else { return }
                        for row in 0..<size.height {
                            let colours = (isHalved ? row / 2 : row) * stride
                            unsafe satchel_row_rgb(
                                light + row * size.width, blue + colours, red + colours, to + row * size.width * 3,
                                size.width, isHalved ? 1 : 0)
                        }
                    }
                }
            }
        }
        return try pixels.picture()
    }

    /// - Parameter length: Of the line in pixels.
    private func weights(
        _ span: Span, of length: Int, _ share: KeyPath<satchel_jpeg_plane, Int32>,
        _ samples: KeyPath<satchel_jpeg_plane, Int32>, in plane: satchel_jpeg_plane, to pixels: Int,
        _ isHalved: Bool
    ) -> LanczosWeights {
        let count = isHalved ? (pixels + 1) / 2 : pixels
        // Of an odd number of pixels the last value stands for one that is not there.
        let span = Span(
            start: span.start, length: span.length * Double(isHalved ? 2 * count : count) / Double(pixels))
        let share = Int(plane[keyPath: share]) / 8
        let samples = Int(plane[keyPath: samples])
        // The narrowest are repeated, not interpolated.
        if shrink == 1, share == 2, plane.width > 2 {
            return LanczosWeights(span, of: length, to: count).halved(samples)
        }
        let part = Span(start: span.start / Double(share), length: span.length / Double(share))
        return LanczosWeights(part, of: samples, to: count)
    }

    /// Decodes all of a JPEG to find what is missing; nil where nothing of it can be decoded.
    static func damage(of bytes: borrowing SourceBytes) -> satchel_jpeg_damage? {
        unsafe bytes.withBytes { bytes in
            var damage = satchel_jpeg_damage()
            guard let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress,
                unsafe satchel_jpeg_find_damage(start, bytes.count, WorkTime.stops, &damage) == 0
            else { return nil }
            return damage
        }
    }

    private func read(into buffers: inout [[UInt8]]) throws(VipsFailure) {
        var (light, blue, red) = (buffers[0], buffers[1], buffers[2])
        buffers = []
        let result = unsafe satchel_jpeg_read(handle, &light, &blue, &red)
        buffers = [light, blue, red]
        guard result == 0 else { throw VipsFailure(text: unsafe String(cString: satchel_jpeg_message(handle))) }
    }
}
