public import SatchelCore
import CSandbox
import Glibc

/// The codec's side of the wall between hostile bytes and the service.
///
/// Synchronous from top to bottom: a process that ever had a second thread can't be forked.
public enum Confinement {
    /// Runs a codec as a zygote, as the service starts it; ends the program.
    ///
    /// Started by hand it says what it is and exits with 64.
    ///
    /// - Parameters:
    ///   - arguments: The program's, without its name.
    ///   - withheld: Layers to leave out, so that a test can show that nothing starts without them.
    public static func run<Codec: ConfinedCodec & ~Copyable>(
        _ codec: consuming Codec, arguments: [String], withholding withheld: Set<SandboxLayer> = []
    ) -> Never {
        guard let invocation = CodecInvocation(arguments: arguments), isSocket(CodecInvocation.controlSocket) else {
            let text = """
                This is the codec of Satchel: it decodes one media file per process, shut in by the kernel. \
                'satchel' starts it; by hand it does nothing.

                """
            _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
            exit(64)
        }
        _ = unsafe sandbox_close_all_but([CodecInvocation.controlSocket], 1)
        sandbox_plain_signals()
        do throws(Zygote<Codec>.StartFailure) {
            var zygote = try Zygote.start(codec, invocation: invocation, withholding: withheld)
            zygote.run()
        } catch {
            exit(1)
        }
        _exit(0)
    }

    private static func isSocket(_ number: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
