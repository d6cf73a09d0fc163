import Testing

@testable import bench

@Suite struct TemplateTests {
    @Test func `a command's words keep what quotes hold together`() throws {
        let peer = try PeerTemplate(command: "mine=resize '{input}' \"-o {output}\" -w {width} -h {height}")
        guard case .command(let words) = peer.call else {
            Issue.record("is no command")
            return
        }
        #expect(peer.name == "mine")
        let line = PeerTemplate.line(words, input: "/a b/{width}.jpg", output: "/o.jpg", width: 300, height: 200)
        #expect(line == ["resize", "/a b/{width}.jpg", "-o /o.jpg", "-w", "300", "-h", "200"])
    }

    @Test func `a URL has the path escaped, and the process that serves it`() throws {
        let peer = try PeerTemplate(url: "other@4321=http://127.0.0.1:1/{width}x{height}/{path}?n={name}")
        guard case .url(let pattern, let process) = peer.call else {
            Issue.record("is no URL")
            return
        }
        #expect(peer.name == "other")
        #expect(process == 4321)
        #expect(
            PeerTemplate.url(pattern, input: "/in puts/ä?.jpg", width: 3, height: 2)
                == "http://127.0.0.1:1/3x2/in%20puts/%C3%A4%3F.jpg?n=%C3%A4%3F.jpg")
    }

    @Test(arguments: [
        "nothing", "=x {input} {output}", "a=x {input}", "a=x {input} {output} {size}", "a=x '{input} {output}",
    ])
    func `a command that can't be right is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try PeerTemplate(command: text) }
    }

    @Test(arguments: ["a=https://x/{path}", "a=http://x/", "a@b=http://x/{path}", "a=http://x/{path}/{colour}"])
    func `a URL that can't be right is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try PeerTemplate(url: text) }
    }
}
