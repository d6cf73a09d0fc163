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
        abstract: "Send a file to an upload's URL.",
        discussion: """
            The URL comes from POST /v1/uploads of a running service; no API key is needed. Where a connection breaks it \
            goes on from what the service has, and so does the same command after an interruption. For example:

              satchel upload IMG_0042.MOV --to https://media.example.com/u/satu_0c8Hk3…
            """)

    @Argument(help: ArgumentHelp("The file.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The upload's URL.", valueName: "url"))
    var to: String

    @Option(
        help: ArgumentHelp(
            "How long to go on trying without a byte of progress. Default: 2 minutes.", valueName: "time"))
    var patience: TimeSpan?

    func validate() throws {
        try patience?.validate("--patience", atMost: .seconds(86_400))
        guard to.hasPrefix("http://") || to.hasPrefix("https://") else {
            throw ValidationError("the URL begins with http:// or https://, unlike '\(to.showingInvisible())'.")
        }
    }

    func run() async throws {
        let number = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            let reason = SystemErrorText.current
            throw CommandFailure("'\(Data(file.utf8).displayPath)' can't be read: \(reason).")
        }
        let handle = FileHandle(fileDescriptor: number)
        var facts = stat()
        guard unsafe fstat(number, &facts) != 0 || facts.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure("'\(Data(file.utf8).displayPath)' is a directory: send one file at a time.")
        }
        defer { try? handle.close() }
        let uploader = FileUploader(handle, to: to, patience: patience?.duration ?? .seconds(120))
        let job = try await HTTPClient.withHTTPClient(
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
        ) { client in
            try await uploader.run(client)
        }
        print(job.map { "Uploaded; the job is \($0)." } ?? "Uploaded.")
    }
}
