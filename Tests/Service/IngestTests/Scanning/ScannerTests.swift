import SatchelCore
import Foundation
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// What scanners are told and what their answers come to, whatever they say.
@Suite(.timeLimit(.minutes(5))) struct ScannerTests {
    private static let subject = ScanSubject(
        tenant: TenantID(rawValue: "ada"), job: JobID(rawValue: "job-1"), attachment: AttachmentID(rawValue: "a-1"))

    private final class Source: Sendable {
        let directory: TemporaryDirectory
        let data: Data

        init(bytes: Int) throws {
            directory = try TemporaryDirectory()
            var generator = SeededGenerator()
            data = Data((0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            try data.write(to: directory.url.appending(path: "source"))
        }

        /// - Parameter missing: Bytes that it is said to have and hasn't.
        func opened(missing: Int = 0) throws -> ScannedSource {
            let number = unsafe open(directory.path + "/source", O_RDONLY | O_CLOEXEC)
            return ScannedSource(
                Descriptor(owning: number), bytes: Int64(data.count + missing), of: ScannerTests.subject)
        }
    }

    /// What came of it: the verdict, or why there is none.
    private func outcome(_ scanner: some SourceScanner, _ source: ScannedSource) async -> Result<
        ScanVerdict, ScanFailure
    > {
        do throws(ScanFailure) {
            return .success(try await scanner.verdict(on: source))
        } catch {
            return .failure(error)
        }
    }

    // MARK: clamd

    @Test(arguments: [0, 1, 256 << 10, 700_001])
    func `clamd is sent the whole source, over a socket of either kind, beside whoever else reads it`(
        bytes: Int
    ) async throws {
        let source = try Source(bytes: bytes)
        let path = source.directory.path + "/clamd"
        for place in [nil, path] {
            try await FakeClamd.run(.answers("stream: OK"), atPath: place) { daemon, port in
                let address = try #require(ClamdScanner.Address(place ?? "127.0.0.1:\(port)"))
                #expect(await outcome(ClamdScanner(at: address), try source.opened()) == .success(.clean))
                #expect(daemon.streams.withLock { $0 } == [source.data])
            }
        }
    }

    @Test(arguments: [
        (
            "stream: Eicar-Test-Signature FOUND",
            Result<ScanVerdict, ScanFailure>.success(.rejected(reason: "Eicar-Test-Signature"))
        ),
        ("stream: two words\u{7} FOUND", .success(.rejected(reason: "two words"))),
        ("stream:  FOUND", .failure(ScanFailure("it answered 'stream:  FOUND'"))),
        ("stream: OK\n", .failure(ScanFailure("it answered 'stream: OK'"))),
        ("OK", .failure(ScanFailure("it answered 'OK'"))),
        (
            "INSTREAM size limit exceeded. ERROR",
            .failure(ScanFailure("it answered 'INSTREAM size limit exceeded. ERROR'"))
        ),
        ("", .failure(ScanFailure("it answered ''"))),
        (String(repeating: "x", count: 9000), .failure(ScanFailure("its answer is too long"))),
    ])
    func `only the two answers that clamd has are verdicts`(
        answer: String, wanted: Result<ScanVerdict, ScanFailure>
    ) async throws {
        let source = try Source(bytes: 100)
        try await FakeClamd.run(.answers(answer)) { _, port in
            let scanner = ClamdScanner(at: .network(host: "127.0.0.1", port: port))
            let found = await outcome(scanner, try source.opened())
            // Of an answer without an end, the end may have come along.
            #expect(found == wanted || answer.count > 5000 && (try? found.get()) == nil)
        }
    }

    @Test func `a clamd that answers early, leaves or isn't there has said nothing`() async throws {
        // More than the buffers between the two hold.
        let source = try Source(bytes: 16 << 20)
        try await FakeClamd.run(.answersEarly("stream: OK")) { _, port in
            let found = await outcome(ClamdScanner(at: .network(host: "127.0.0.1", port: port)), try source.opened())
            #expect((try? found.get()) == nil)
        }
        try await FakeClamd.run(.leaves) { _, port in
            let found = await outcome(ClamdScanner(at: .network(host: "127.0.0.1", port: port)), try source.opened())
            #expect((try? found.get()) == nil)
        }
        let away = ClamdScanner(at: .unix(path: source.directory.path + "/nobody"))
        #expect(await outcome(away, try source.opened()) == .failure(ScanFailure("it can't be reached")))
    }

    @Test func `what is found in a part is found`() async throws {
        let source = try Source(bytes: 16 << 20)
        try await FakeClamd.run(.answersEarly("stream: Worm FOUND")) { _, port in
            let found = await outcome(ClamdScanner(at: .network(host: "127.0.0.1", port: port)), try source.opened())
            #expect(found == .success(.rejected(reason: "Worm")) || (try? found.get()) == nil)
        }
    }

    @Test func `a source that is shorter than it was is not scanned, and a silent clamd is left when it is enough`()
        async throws
    {
        let source = try Source(bytes: 1000)
        try await FakeClamd.run(.isSilent) { daemon, port in
            let scanner = ClamdScanner(at: .network(host: "127.0.0.1", port: port))
            #expect(
                await outcome(scanner, try source.opened(missing: 1))
                    == .failure(ScanFailure("the source changed while it was read")))
            let input = try source.opened()
            let waiting = Task { await outcome(scanner, input) }
            try await eventually("it has all") { daemon.streams.withLock { $0.count } == 1 }
            waiting.cancel()
            #expect((try? await waiting.value.get()) == nil)
        }
    }

    @Test func `addresses are paths, or hosts with a port`() {
        #expect(ClamdScanner.Address("/run/clamd.ctl") == .unix(path: "/run/clamd.ctl"))
        #expect(ClamdScanner.Address("clamd:3310") == .network(host: "clamd", port: 3310))
        #expect(ClamdScanner.Address("[::1]:3310") == .network(host: "::1", port: 3310))
        for text in [
            "", "clamd", "clamd:0", "clamd:70000", "::1:3310", ":3310", "run/clamd.ctl:1",
            "/" + String(repeating: "x", count: 108),
        ] {
            #expect(ClamdScanner.Address(text) == nil, "\(text)")
        }
    }

    // MARK: By HTTP

    private typealias Answer = LocalOrigin.Answer

    @Test func `a scanner by HTTP is sent the source and whose it is, and its answer counts`() async throws {
        let source = try Source(bytes: 300_000)
        try await LocalOrigin.run { request in
            Answer(body: Data(#"{"verdict": "yes", "more": 1}"#.utf8), keepsOpen: true)
        } _: { origin in
            let scanner = try WebScanner(at: origin.url("/scan?a=b"), limit: .seconds(60), userAgent: "Satchel/test")
            for _ in 0..<2 { #expect(await outcome(scanner, try source.opened()) == .success(.clean)) }
            let request = try #require(origin.requests.last)
            #expect(request.method == "POST" && request.target == "/scan?a=b" && request.body == source.data)
            #expect(request.headers["satchel-tenant"] == "ada" && request.headers["satchel-job"] == "job-1")
            #expect(request.headers["satchel-attachment"] == "a-1")
            #expect(request.headers["content-type"] == "application/octet-stream")
            await scanner.end()
        }
    }

    @Test(arguments: [
        (200, #"{"verdict": "no", "reason": "it is a worm"}"#, "rejected: it is a worm"),
        (200, #"{"verdict": "no", "reason": null}"#, "rejected: no reason given"),
        (200, #"{"verdict": "YES"}"#, "failed: it answered 'YES'"),
        (200, #"{"verdict": true}"#, #"failed: it answered '{"verdict": true}'"#),
        (200, #"{"reason": "yes"}"#, #"failed: it answered '{"reason": "yes"}'"#),
        (200, "yes", "failed: it answered 'yes'"),
        (204, "", "failed: it answered 204"),
        (302, #"{"verdict": "yes"}"#, "failed: it answered 302"),
        (500, #"{"verdict": "yes"}"#, "failed: it answered 500"),
    ])
    func `whatever isn't yes or no, with status 200, is no verdict`(
        status: Int, body: String, wanted: String
    ) async throws {
        let source = try Source(bytes: 10)
        try await LocalOrigin.run { _ in
            Answer(status: status, body: Data(body.utf8))
        } _: { origin in
            let scanner = try WebScanner(at: origin.url("/"), limit: .seconds(60), userAgent: "Satchel/test")
            let told =
                switch await outcome(scanner, try source.opened()) {
                case .success(.clean): "clean"
                case .success(.rejected(let reason)): "rejected: \(reason)"
                case .failure(let failure): "failed: \(failure.reason)"
                }
            #expect(told == wanted)
            await scanner.end()
        }
    }

    @Test func `a scanner that answers before it has all has said nothing`() async throws {
        let source = try Source(bytes: 16 << 20)
        try await LocalOrigin.runBytewise { _, writer in
            // The request's head alone is what this reads before.
            try await writer.send("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"verdict\": \"yes\"}")
        } _: { origin in
            let scanner = try WebScanner(at: origin.url("/"), limit: .seconds(60), userAgent: "Satchel/test")
            _ = await outcome(scanner, try source.opened())
            await scanner.end()
        }
        let away = try WebScanner(at: "http://127.0.0.1:1/", limit: .seconds(60), userAgent: "Satchel/test")
        #expect((try? await outcome(away, try source.opened()).get()) == nil)
        await away.end()
    }
}
