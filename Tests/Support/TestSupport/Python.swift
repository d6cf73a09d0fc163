import Foundation
import Glibc
import Synchronization

/// Runs scripts in forks of one Python that has loaded NumPy and Pillow, which takes longer than most scripts do.
public enum Python {
    private static let server = Mutex<Server?>(nil)

    private struct Server {
        var process: Process
        /// Its input: it ends with this process, which holds the other end.
        var requests: FileHandle

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw POSIXError(.init(rawValue: errno) ?? .EIO)
            }
            requests = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
            process = Process()
            process.executableURL = URL(filePath: "/usr/bin/python3")
            process.arguments = ["-c", Python.loop, "\(Python.limit)"]
            process.environment = ProcessInfo.processInfo.environment.merging(["PATH": Program.searchPath]) { $1 }
            process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
            try process.run()
        }

        /// To one that died this is an error, where a pipe would be a signal.
        func send(_ request: Data) throws {
            var rest = request
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { bytes in
                    unsafe Glibc.send(requests.fileDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
                rest.removeFirst(count)
            }
        }
    }

    /// Runs a script as `python3 -c` does.
    public static func run(_ script: String, _ arguments: [String] = []) throws -> ProgramResult {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "satchel-python-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let job = Job(script: script, arguments: arguments, scratch: scratch.path(percentEncoded: false))
        let request = try JSONEncoder().encode(job) + Data("\n".utf8)
        try server.withLock { server in
            let running = try server ?? Server()
            server = running
            try running.send(request)
        }
        // Written when all else is.
        let ending = scratch.appending(path: "status").path(percentEncoded: false)
        let end = ContinuousClock.now + .seconds(Self.limit + 10)
        var pause: UInt32 = 500
        while unsafe access(ending, F_OK) != 0 {
            guard ContinuousClock.now < end else {
                throw RunningProgram.Overdue(program: "python3", seconds: Double(Self.limit), errors: script)
            }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
        // As waitpid gives it.
        let status = Int32(try String(contentsOfFile: ending, encoding: .utf8)) ?? -1
        let signal = status & 0x7f
        return ProgramResult(
            status: signal == 0 ? status >> 8 : -1, signal: signal == 0 ? nil : signal,
            output: try Data(contentsOf: scratch.appending(path: "output")),
            errors: try Data(contentsOf: scratch.appending(path: "errors")))
    }

    private struct Job: Encodable {
        var script: String
        var arguments: [String]
        var scratch: String
    }

    /// Seconds for a script.
    private static let limit = 300

    /// The script runs in the last of three processes; the second one waits for it.
    private static let loop = """
        import json, os, signal, sys
        os.environ['OPENBLAS_NUM_THREADS'] = '1'
        import gc, io, math, random, struct, subprocess, traceback, types, zlib
        import numpy, numpy.fft, numpy.random
        from PIL import Image, ImageCms, ImageDraw, ImageFile, ImageFont, ImageOps, ImageSequence
        Image.init()
        os.environ.pop('OPENBLAS_NUM_THREADS')
        limit = int(sys.argv[1])
        # What forks share they would copy where a collection writes to it.
        gc.collect()
        gc.freeze()
        for line in sys.stdin:
            job = json.loads(line)
            if os.fork():
                while True:
                    try:
                        if os.waitpid(-1, os.WNOHANG)[0] == 0: break
                    except ChildProcessError: break
                continue
            path = job['scratch'] + '/'
            worker = os.fork()
            if worker:
                status = os.waitpid(worker, 0)[1]
                with open(path + 'ending', 'w') as file: file.write(str(status))
                os.rename(path + 'ending', path + 'status')
                os._exit(0)
            for target, name in ((1, 'output'), (2, 'errors')):
                os.dup2(os.open(path + name, os.O_WRONLY | os.O_CREAT), target)
            os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
            signal.alarm(limit)
            sys.argv = ['-c', *job['arguments']]
            break
        else: sys.exit()
        sys.modules['__main__'] = main = types.ModuleType('__main__')
        status = 0
        try: exec(compile(job['script'], '<script>', 'exec'), main.__dict__)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            if isinstance(end.code, str): print(end.code, file=sys.stderr)
        except BaseException:
            status = 1
            traceback.print_exc()
        # Files are closed. An end as Python makes it would take NumPy apart, which takes longer than most scripts do.
        main.__dict__.clear()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
        """
}
