/// The swap space of the machine.
struct SwapSpace: Hashable {
    /// Bytes of swap on disks, without compressed memory.
    let bytes: Int64

    /// - Parameter table: The contents of `/proc/swaps`: a header, and lines with a name, a kind, KiB and two more numbers.
    init(_ table: String) {
        bytes = table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
            let fields = line.split { $0 == " " || $0 == "\t" }
            // zram is compressed memory.
            guard fields.count > 2, !fields[0].hasPrefix("/dev/zram") else { return sum }
            return sum + (Int64(fields[2]) ?? 0) * 1024
        }
    }

    /// Warns about swap, because memory holds decrypted media, which must not reach a disk.
    var finding: Finding {
        Finding(
            bytes == 0 ? .good : .extra, "swap",
            bytes == 0
                ? "none on disk"
                : "\(Quantity.bytes(bytes)) on disk, to which decrypted media may be written. Turn swap off, encrypt it, or exclude the service (MemorySwapMax=0; Docker: --memory-swap equal to --memory)"
        )
    }
}
