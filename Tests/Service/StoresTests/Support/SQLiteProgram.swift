import TestSupport
import Testing

/// What the independent tool answers to `commands`.
@discardableResult
func sqlite(_ path: String, _ commands: String) throws -> String {
    let result = try Program.tool("sqlite3").run([path, commands])
    #expect(result.status == 0, "\(result.errorText)")
    return result.outputText
}
