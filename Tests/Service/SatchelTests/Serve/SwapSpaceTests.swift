import Testing

@testable import satchel

@Suite struct SwapSpaceTests {
    private static let head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

    @Test func `swap on disks is told, with what to do; compressed memory is none`() {
        let none = SwapSpace(Self.head)
        #expect(none.bytes == 0 && none.finding.grade == .good)
        let compressed = SwapSpace(Self.head + "/dev/zram0 partition\t4194300\t0\t100\n")
        #expect(compressed == none)
        let disks = SwapSpace(Self.head + "/dev/sda2   partition\t1048576\t12\t-2\n/swap\\040file file\t1024\t0\t-3\n")
        #expect(disks.bytes == (1_048_576 + 1024) * 1024)
        #expect(disks.finding.grade == .extra && disks.finding.detail.contains("MemorySwapMax=0"))
    }
}
