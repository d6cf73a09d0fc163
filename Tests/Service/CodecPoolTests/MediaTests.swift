import SatchelCore
import CodecPool
import Foundation
import Glibc
import TestSupport
import Testing

extension Isolation {
    /// The real codec in the real confinement. What comes out is judged elsewhere; here, that nothing a decoder does is
    /// taken for an attack or runs into a limit.
    @Suite struct MediaTests {
        @Test(.inCheck("decodes every sample under strace"))
        func `no sample makes the codec do what the confinement forbids`() async throws {
            let scratch = try Scratch()
            let manifest = try MediaManifest.load()
            let configuration = CodecPoolConfiguration(executable: try Repository.product("satchel-codec"), codecs: 2)
            try await withPool(configuration) { pool, _ in
                var rendered: Set<MediaKind> = []
                for sample in manifest.files {
                    let number = unsafe open(sample.url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
                    try #require(number >= 0)
                    let outcome = await pool.run(
                        owning: Descriptor(owning: number), profile: .notification, in: scratch.place)
                    if let error = outcome.error {
                        let isOurs =
                            switch error {
                            case .codecCrashed, .tooExpensive, .storeFailed, .deadlineExceeded: true
                            default: false
                            }
                        #expect(!isOurs, "\(sample.path): \(error.description)")
                    }
                    if let kind = outcome.result?.probeResult.kind,
                        outcome.reports.contains(where: { $0.role == .main })
                    {
                        rendered.insert(kind)
                    }
                }
                #expect(rendered.isSuperset(of: [.image, .animation]))
            }
        }
    }
}
