/// Where the kernel may write what lies in memory.
struct SwapSpace: Hashable {
    /// Of disks alone.
    let bytes: Int64

    /// - Parameter table: `/proc/swaps`: a head, and for each a name, a kind, KiB, and two more numbers.
    init(_ table: String) {
        bytes = table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
            let fields = line.split { $0 == " " || $0 == "\t" }
            // That is memory, compressed.
            guard fields.count > 2, !fields[0].hasPrefix("/dev/zram") else { return sum }
            return sum + (Int64(fields[2]) ?? 0) * 1024
        }
    }

    /// What was encrypted lies in memory decrypted, which a disk must not have.
    var finding: Finding {
        Finding(
            grade: bytes == 0 ? .good : .extra, subject: "swap",
            detail: bytes == 0
                ? "on no disk"
                : "\(Quantity.bytes(bytes)): what encrypted sources hold may be written there. Turn it off, encrypt it, or keep the service out of it (MemorySwapMax=0; Docker: --memory-swap equal to --memory)"
        )
    }
}
