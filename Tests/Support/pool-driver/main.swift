import SatchelCore
import CodecPool
import FoundationEssentials
import Glibc

// A service in small, for a test to kill: it holds a pool of `codec` with every process at work on `source`.
//
//     pool-driver <codec> <source> [arguments of the codec]
let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print("usage: pool-driver <codec> <source> [arguments]")
    exit(64)
}
let pool = CodecPool(
    CodecPoolConfiguration(
        executable: URL(filePath: arguments[1]), codecs: 2, arguments: Array(arguments.dropFirst(3))))
_ = try await pool.start()
let profile = Profile(name: "test", thumbnail: .defaults, image: .defaults)
await withTaskGroup(of: Void.self) { group in
    for _ in 0..<2 {
        group.addTask {
            let number = unsafe open(arguments[2], O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { return }
            let source = Descriptor(owning: number)
            _ = try? await pool.process(
                source, order: WorkOrder(profile: profile),
                decide: { (_) async throws(AttachmentError) in .stop },
                received: { (_) async throws(AttachmentError) in })
        }
    }
}
