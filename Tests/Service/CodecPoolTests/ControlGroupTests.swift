import Foundation
import TestSupport
import Testing

@testable import CodecPool

struct ControlGroupTests {
    /// A directory with files, as the kernel shows groups.
    private func group(_ membership: String, _ files: [String: String]) throws -> ControlGroup {
        let directory = FileManager.default.temporaryDirectory.appending(path: "groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, text) in files.merging(["membership": membership], uniquingKeysWith: { $1 }) {
            let file = directory.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return ControlGroup(
            mounts: directory.path(percentEncoded: false),
            membership: directory.appending(path: "membership").path(percentEncoded: false))
    }

    @Test func `a container's limits are those of its group, in version 2`() throws {
        let limited = try group("0::/\n", ["memory.max": "2147483648\n", "cpu.max": "150000 100000\n"])
        #expect(limited.memory == 2 << 30)
        #expect(limited.processors == 1.5)
    }

    @Test func `the lowest limit on the way up counts`() throws {
        let limited = try group(
            "0::/system.slice/satchel.service\n",
            [
                "system.slice/memory.max": "1073741824\n", "system.slice/satchel.service/memory.max": "4294967296\n",
                "system.slice/satchel.service/cpu.max": "max 100000\n",
            ])
        #expect(limited.memory == 1 << 30)
        #expect(limited.processors == nil)
    }

    @Test func `version 1 counts too, where the container sees only its own group`() throws {
        let limited = try group(
            "4:memory:/docker/0a1b\n3:cpu,cpuacct:/docker/0a1b\n0::/docker/0a1b\n",
            [
                "memory/memory.limit_in_bytes": "536870912\n", "cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
                "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            ])
        #expect(limited.memory == 512 << 20)
        #expect(limited.processors == 2)
    }

    @Test func `nothing is limited where no group says so`() throws {
        let free = try group(
            "4:memory:/\n3:cpu:/\n0::/\n",
            ["memory.max": "max\n", "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"])
        #expect(free.memory == nil && free.processors == nil)
        #expect(ControlGroup(mounts: "/nowhere", membership: "/nowhere/membership").memory == nil)
    }
}
