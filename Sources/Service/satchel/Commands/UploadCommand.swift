import ArgumentParser
import AsyncHTTPClient
import SatchelCore
import Foundation
import Glibc
import Ingest
import NIOHTTP1

struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Send a file to an upload URL.",
        discussion: """
            POST /v1/uploads of a running service returns the URL. The command needs no API key. After a broken \
            connection, the upload continues where it stopped. If the command is interrupted, run it again to continue.

            Examples:

              satchel upload IMG_0042.MOV --to https://media.example.com/u/satu_0c8Hk3…
            """)

    @Argument(help: ArgumentHelp("File to send.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("URL of the upload.", valueName: "url"))
    var to: String

    @Option(
        help: ArgumentHelp(
            "How long to keep trying without progress. Default: 2 minutes.", valueName: "time"))
    var patience: TimeSpan?

    func validate() throws {
        try patience?.validate("--patience", atMost: .seconds(86_400))
        guard to.hasPrefix("http://") || to.hasPrefix("https://") else {
            throw ValidationError(
                "--to must be a URL that starts with http:// or https://, not '\(to.showingInvisible())'.")
        }
    }

    func run() async throws {
        let number = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            let reason = SystemErrorText.current
            throw CommandFailure("'\(Data(file.utf8).displayPath)' can't be read: \(reason).", status: .usage)
        }
        let handle = FileHandle(fileDescriptor: number)
        var facts = stat()
        guard unsafe fstat(number, &facts) != 0 || facts.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure(
                "'\(Data(file.utf8).displayPath)' is a directory. Send one file at a time.", status: .usage)
        }
        defer { try? handle.close() }
        let uploader = FileUploader(handle, to: to, patience: patience?.duration ?? .seconds(120))
        let job = try await HTTPClient.withHTTPClient(
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
        ) { client in
            try await uploader.run(client)
        }
        print(job.map { "Uploaded. The job is \($0)." } ?? "Uploaded.")
    }
}
