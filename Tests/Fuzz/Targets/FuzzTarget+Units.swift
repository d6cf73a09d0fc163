import SatchelCore

@testable import ClipCodecs
@testable import StillCodecs

extension FuzzTarget {
    /// H.264: a decoder's configuration with its parameter sets, and the units of packets in either framing.
    static let units = FuzzTarget("units") { bytes in
        if let sequence = SequenceParameters(unit: bytes) {
            // HRD parameters are not written; all else comes back.
            precondition(SequenceParameters(unit: sequence.unit) == sequence, "a set that was written reads otherwise")
            _ = sequence.mostBuffered
            _ = sequence.matching(sequence, reordered: 2, buffered: 4)
        }
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let sets = unsafe ParameterSets(configuration: buffer) else { return }
            let written = sets.configuration
            let again = unsafe written.withUnsafeBufferPointer { unsafe ParameterSets(configuration: $0) }
            precondition(again == sets, "sets that were written read otherwise")
            _ = sets.freeIdentifier
            for unit in sets.sequences {
                if let sequence = SequenceParameters(unit: unit) { _ = sets.replacing(sequence: sequence.unit) }
            }
        }
        for framing in [NALUnits.Framing.startCodes, .lengths(1), .lengths(2), .lengths(3), .lengths(4)] {
            checkUnits(of: bytes, framing)
        }
    }

    private static func checkUnits(of bytes: [UInt8], _ framing: NALUnits.Framing) {
        let summary = unsafe bytes.withUnsafeBufferPointer { unsafe NALUnits.summary(at: $0, framing: framing) }
        let slices = unsafe bytes.withUnsafeBufferPointer { unsafe NALUnits.slices(of: $0, framing: framing) }
        var left = bytes
        let kept = unsafe left.withUnsafeMutableBufferPointer {
            unsafe NALUnits.dropSupplements(in: $0, framing: framing)
        }
        precondition((summary == nil) == (slices == nil) && (summary == nil) == (kept == nil))
        guard let kept, kept > 0 else { return }
        precondition(kept <= bytes.count)
        let rest = unsafe left[..<kept].withUnsafeBufferPointer { unsafe NALUnits.summary(at: $0, framing: framing) }
        precondition(rest?.hasSupplement == false, "something else than slices is left")
    }
}
