import Glibc
import StillCodecs

/// Checks an H.264 stream by its lengths, slice headers and times, without decoding it.
///
/// Of the data behind a slice's header, it only finds byte sequences that no encoder writes. Clauses are those of
/// ITU-T H.264.
struct PictureStructure {
    /// Sequence parameter sets by their identifiers, and the same by the identifiers of picture parameter sets.
    private var sequences: [UInt32: SequenceParameters] = [:]
    private var pictures: [UInt32: SequenceParameters] = [:]
    /// The last frame that others may refer to.
    private var reference: SliceHeader?
    private var referenceOrder: Int64 = 0
    /// When each frame since the last refresh is shown, by its packet and by its header.
    private var times: [(pts: Int64, order: Int64)] = []

    /// Nil if ``SequenceParameters`` can't read the sets.
    init?(_ sets: ParameterSets) {
        for unit in sets.sequences {
            guard let sequence = SequenceParameters(unit: unit), sequences[sequence.id] == nil else { return nil }
            sequences[sequence.id] = sequence
        }
        for unit in sets.pictures {
            var reader = BitReader(unit: unit)
            let (own, other) = (reader.unsigned(), reader.unsigned())
            guard !reader.isOver, own < 256, pictures[own] == nil, let sequence = sequences[other] else { return nil }
            pictures[own] = sequence
        }
    }

    /// Checks the next packet, whose slices stand behind lengths of four bytes.
    ///
    /// - Returns: False if a decoder might report an error.
    mutating func accept(_ packet: UnsafeBufferPointer<UInt8>, isKey: Bool, pts: Int64) -> Bool {
        var slices: [SliceHeader] = []
        var isSound = true
        let isFramed = unsafe NALUnits.forEachContent(in: packet, framing: .lengths(4)) { range in
            let unit = unsafe UnsafeBufferPointer(rebasing: packet[range])
            guard let slice = unsafe SliceHeader(unit, pictures), unsafe !Self.hasForbiddenBytes(unit) else {
                isSound = false
                return
            }
            // In the order of their macroblocks, and of one picture.
            if let last = slices.last {
                isSound = isSound && slice.first > last.first && slice.isOfPicture(of: last)
            } else {
                isSound = isSound && slice.first == 0
            }
            slices.append(slice)
        }
        guard isFramed, isSound, let slice = slices.first, let sequence = pictures[slice.parameters],
            slice.isRefresh == isKey
        else { return false }
        return follows(slice, sequence, at: pts)
    }

    /// Returns whether a frame continues the numbers of earlier frames (7.4.3, 8.2.1), and its order agrees with its time.
    private mutating func follows(_ slice: SliceHeader, _ sequence: SequenceParameters, at pts: Int64) -> Bool {
        let numbers = UInt32(1) << (sequence.frameNumberBits + 4)
        if slice.isRefresh {
            times = []
            (reference, referenceOrder) = (nil, 0)
            guard slice.number == 0 else { return false }
        } else {
            guard let reference, sequence.allowsGaps || slice.number == (reference.number + 1) % numbers else {
                return false
            }
        }
        var order = (times.last?.order ?? -1) + 1
        if sequence.orderType == 0 {
            let all = Int64(1) << (sequence.orderBits + 4)
            // The nearest number with these low bits.
            order = referenceOrder + (Int64(slice.order) - referenceOrder) & (all - 1)
            if order - referenceOrder > all / 2 { order -= all }
        }
        if slice.isReference { (reference, referenceOrder) = (slice, order) }
        let isInOrder = times.allSatisfy { ($0.pts < pts) == ($0.order < order) && $0.pts != pts && $0.order != order }
        // A decoder reorders at most 16 frames.
        times = times.suffix(16) + [(pts, order)]
        return isInOrder
    }

    /// Returns whether a unit ends with a zero, or contains three bytes that must not occur within one (7.4.1).
    private static func hasForbiddenBytes(_ unit: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = unit.baseAddress, unsafe unit.last != 0 else { return true }
        var start = 0
        // One byte in 256 is zero.
        while let zero = unsafe memchr(base + start, 0, unit.count - start) {
            let index = unsafe UnsafeRawPointer(zero) - UnsafeRawPointer(base)
            if index + 2 < unit.count, unsafe unit[index + 1] == 0, unsafe unit[index + 2] < 3 { return true }
            start = index + 1
        }
        return false
    }
}

/// The beginning of a slice's header, clause 7.3.3.
private struct SliceHeader {
    /// Its first macroblock.
    var first: UInt32
    var parameters: UInt32
    var number: UInt32
    var order: UInt32 = 0
    var isRefresh: Bool
    var isReference: Bool

    /// Nil for slices of fields, and for values that are not allowed.
    init?(_ unit: UnsafeBufferPointer<UInt8>, _ pictures: [UInt32: SequenceParameters]) {
        guard let header = unsafe unit.first, header & 0x80 == 0 else { return nil }
        var reader = BitReader(unit: unsafe Array(unit.prefix(32)))
        (isRefresh, isReference) = (header & 0x1f == 5, header & 0x60 != 0)
        first = reader.unsigned()
        let type = reader.unsigned()
        parameters = reader.unsigned()
        guard let sequence = pictures[parameters], type < 10, !isRefresh || (isReference && type % 5 == 2) else {
            return nil
        }
        number = reader.bits(Int(sequence.frameNumberBits) + 4)
        // The slice is of a field.
        if !sequence.hasOnlyFrames, reader.bit() { return nil }
        if isRefresh, reader.unsigned() > 65_535 { return nil }
        if sequence.orderType == 0 { order = reader.bits(Int(sequence.orderBits) + 4) }
        let blocks = (Double(sequence.width) + 1) * (Double(sequence.height) + 1) * (sequence.hasOnlyFrames ? 1 : 2)
        guard !reader.isOver, Double(first) < blocks else { return nil }
    }

    func isOfPicture(of other: SliceHeader) -> Bool {
        number == other.number && order == other.order && isRefresh == other.isRefresh
            && isReference == other.isReference
    }
}
