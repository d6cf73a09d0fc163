import TestSupport
import Testing

/// What the independent tool answers to `commands`. It waits for a store that is just being closed.
@discardableResult
func sqlite(_ path: String, _ commands: String) throws -> String {
    let result = try Program.tool("sqlite3").run(["-cmd", ".timeout 10000", path, commands])
    #expect(result.status == 0, "\(result.errorText)")
    return result.outputText
}
