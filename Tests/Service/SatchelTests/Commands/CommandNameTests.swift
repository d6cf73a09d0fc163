import ArgumentParser
import Testing

@testable import satchel

/// ArgumentParser makes a name of the type's where a command has none, of every one at each start of the program.
@Suite struct CommandNameTests {
    @Test func `every command says what it is called`() {
        var commands: [any ParsableCommand.Type] = [Satchel.self]
        var seen = 0
        while let command = commands.popLast() {
            seen += 1
            #expect(command.configuration.commandName != nil, "\(command)")
            commands += command.configuration.subcommands
        }
        #expect(seen > 50)
    }
}
