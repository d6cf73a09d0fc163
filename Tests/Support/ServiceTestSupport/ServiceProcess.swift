public import Foundation
import Glibc
public import TestSupport
import Testing

/// The program as a service, which was started and listens; killed at the end of its life.
public final class ServiceProcess: ServiceRequests {
    public let program: RunningProgram
    public let url: URL
    public let key: String?

    /// Waits until the program says where it listens.
    ///
    /// - Parameter key: What requests bear; nil: the development key that the service makes.
    public init(_ program: RunningProgram, key: String? = nil) async throws {
        self.program = program
        let address = try await whenFound("where the service listens") { () -> String?? in
            let address = try program.outputSoFar.firstMatch(of: /"public_url":"([^"]+)"/).map { String($0.1) }
            return address == nil && program.process.isRunning ? nil : .some(address)
        }
        guard let address, let url = URL(string: address) else {
            throw Ended(errors: try program.errorsSoFar, output: try program.outputSoFar)
        }
        self.url = url
        self.key = try key ?? program.errorsSoFar.firstMatch(of: /satk_[0-9A-Za-z]+/).map { String($0.0) }
    }

    deinit {
        signal(SIGKILL)
    }

    /// It ended before it listened.
    public struct Ended: Error, CustomStringConvertible {
        var errors: String
        var output: String
        public var description: String { errors + output }
    }

    public func signal(_ number: Int32) {
        if program.process.isRunning { kill(program.process.processIdentifier, number) }
    }

    /// Tells it to end and waits for that.
    @discardableResult
    public func stop(_ number: Int32 = SIGTERM) async throws -> ProgramResult {
        signal(number)
        return try await program.end()
    }

    /// What it has logged by now, a dictionary for each line.
    public var log: [[String: Any]] {
        get throws {
            try program.outputSoFar.split(separator: "\n").map { line in
                try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "no JSON: \(line)")
            }
        }
    }

    /// The same to ask from another task.
    public var requester: ServiceRequester { ServiceRequester(url: url, key: key) }
}
