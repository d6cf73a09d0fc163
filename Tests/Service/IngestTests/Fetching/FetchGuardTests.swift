import SatchelCore
import TestSupport
import Testing

@testable import Ingest

@Suite struct FetchGuardTests {
    /// What the guard makes of a URL whose name resolves to `answers`.
    private func verdict(_ url: String, answers: [IPAddress], allowing: [String] = []) throws -> ErrorCode? {
        let gate = FetchGuard(allowing: try FetchAllowance.list(allowing))
        do throws(AttachmentError) {
            let url = try FetchURL(url)
            try gate.check(url)
            if case .name(_) = url.host { try gate.check(answers, for: url) }
            return nil
        } catch {
            return error.code
        }
    }

    private func address(_ text: String) throws -> IPAddress {
        try #require(IPAddress(text))
    }

    @Test func `the list of hostile URLs has at least 300`() {
        #expect(HostileURL.all.count >= 300)
        #expect(Set(HostileURL.all.map { "\($0.url) \($0.answers ?? [])" }).count == HostileURL.all.count)
    }

    @Test func `every hostile URL is refused for the reason listed`() throws {
        let loopback = [try address("127.0.0.1")]
        for hostile in HostileURL.all {
            let found = try verdict(hostile.url, answers: hostile.answers ?? loopback)
            #expect(found == hostile.verdict, "\(hostile.url.debugDescription)")
        }
    }

    @Test(arguments: [
        "http://93.184.216.34/", "https://1.1.1.1/x?y=z", "https://[2606:4700:4700::1111]/", "http://8.8.8.8:443/",
        "http://[2a00:1450:4001:81b::200e]:80/", "http://172.15.255.255/", "http://172.32.0.0/",
        "http://100.63.255.255/",
        "http://100.128.0.0/", "http://223.255.255.255/", "http://[2001:200::1]/", "http://[2606:2800::5efe:808:808]/",
        "http://11.0.0.0/", "http://192.0.1.0/", "http://198.17.255.255/", "http://198.20.0.0/",
    ])
    func `a public address on a usual port is allowed`(url: String) throws {
        #expect(try verdict(url, answers: []) == nil)
    }

    @Test func `a name that resolves to public addresses alone is allowed`() throws {
        let answers = [try address("93.184.216.34"), try address("2606:2800:220:1::1")]
        #expect(try verdict("https://example.com/a.jpg", answers: answers) == nil)
        #expect(try verdict("https://EXAMPLE.com./a.jpg", answers: answers) == nil)
    }

    @Test func `a refusal names the host and the setting, and only the log the address`() throws {
        let url = try FetchURL("http://media.example/x")
        let error = #expect(throws: AttachmentError.self) {
            try FetchGuard().check([try address("93.184.216.34"), try address("10.0.0.9")], for: url)
        }
        #expect(error == .blockedAddress(host: "media.example", address: "10.0.0.9"))
        let told = Recorder<String>()
        let logging = FetchGuard(refused: { told.add($0) })
        #expect(throws: AttachmentError.self) {
            try logging.check([.v4(0x0A00_0009)], for: url)
        }
        #expect(told.list == ["10.0.0.9"])
        let message = try #require(error?.message)
        #expect(message.contains("media.example") && message.contains("fetch.allow") && !message.contains("10.0.0.9"))
    }

    // MARK: Properties

    @Test func `an IPv4 address in a blocked range is refused in every spelling and every embedding`() throws {
        var random = SeededGenerator(seed: 1)
        let blocks = SpecialAddresses.blocks.filter { $0.first.width == 32 }
        #expect(blocks.count == 18)
        for _ in 0..<2000 {
            let block = try #require(blocks.randomElement(using: &random))
            let bits = UInt32(truncatingIfNeeded: block.first.bits) | (random.next32() & UInt32(block.hostMask))
            for spelling in Spellings.ofIPv4(bits) + Spellings.inIPv6(bits) {
                let found = try verdict("http://\(spelling)/", answers: [])
                #expect(found == .blockedAddress || found == .invalidSource, "\(spelling)")
            }
            // The same as answers of the name service.
            for embedded in Spellings.inIPv6(bits) {
                let answer = try address(String(embedded.dropFirst().dropLast()))
                #expect(try verdict("http://name.example/", answers: [answer]) == .blockedAddress, "\(embedded)")
            }
        }
    }

    @Test func `a random global unicast address is allowed, and only in its plain spelling`() throws {
        var random = SeededGenerator(seed: 2)
        var tried = 0
        while tried < 2000 {
            let bits = random.next32()
            guard SpecialAddresses.isPublic(.v4(bits)) else { continue }
            tried += 1
            let plain = IPAddress.v4(bits).description
            #expect(try verdict("http://\(plain)/", answers: []) == nil, "\(plain)")
            for spelling in Spellings.ofIPv4(bits) where spelling != plain {
                #expect(try verdict("http://\(spelling)/", answers: []) == .invalidSource, "\(spelling)")
            }
        }
        // 2a00::/12 and 2600::/12 are handed out by the registries and hold nothing special.
        for prefix in [0x2A0, 0x260] as [UInt128] {
            for _ in 0..<1000 {
                let bits = prefix << 116 | (random.next128() >> 12)
                guard IPAddress.v6(bits).embedded.isEmpty, bits >> 80 != 0x2620_004F_8000 else { continue }
                #expect(try verdict("http://[\(IPAddress.v6(bits))]/", answers: []) == nil)
            }
        }
    }

    @Test func `an IPv6 address outside 2000 to 3fff is refused`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let bits = random.next128()
            guard bits >> 125 != 1 else { continue }
            #expect(try verdict("http://[\(IPAddress.v6(bits))]/", answers: []) == .blockedAddress)
        }
    }

    @Test func `an address survives its text`() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            let six = IPAddress.v6(random.next128())
            let four = IPAddress.v4(random.next32())
            #expect(IPAddress(six.description) == six)
            #expect(IPAddress(four.description) == four)
        }
    }

    // MARK: Exceptions

    @Test func `an exception allows what it names and nothing beside it`() throws {
        func code(_ url: String, _ answers: [String], _ allowing: [String]) throws -> ErrorCode? {
            try verdict(url, answers: answers.map { try address($0) }, allowing: allowing)
        }
        #expect(try code("http://10.1.2.3/", [], ["10.0.0.0/8"]) == nil)
        #expect(try code("http://10.1.2.3:8080/", [], ["10.0.0.0/8"]) == nil)
        #expect(try code("http://11.1.2.3:8080/", [], ["10.0.0.0/8"]) == .blockedAddress)
        #expect(try code("http://10.1.2.3:8081/", [], ["10.0.0.0/8:8080"]) == .blockedAddress)
        #expect(try code("http://10.1.2.3/", [], ["10.0.0.0/8:8080"]) == .blockedAddress)
        #expect(try code("http://a.example/", ["10.0.0.1"], ["A.Example"]) == nil)
        #expect(try code("http://b.a.example/", ["10.0.0.1"], ["a.example"]) == .blockedAddress)
        #expect(try code("http://a.example:9000/", ["93.184.216.34"], ["a.example:9000"]) == nil)
        #expect(try code("http://a.example:9001/", ["93.184.216.34"], ["a.example:9000"]) == .blockedAddress)
        #expect(try code("http://a.example:9000/", ["10.0.0.1"], ["10.0.0.1:9000"]) == nil)
        #expect(try code("http://a.example:9000/", ["10.0.0.1", "10.0.0.2"], ["10.0.0.1:9000"]) == .blockedAddress)
        #expect(try code("http://[fd00::7]/", [], ["[fd00::/8]:80"]) == nil)
        #expect(try code("http://[::1]/", [], ["::1"]) == nil)
    }

    @Test func `an exception for a translator's prefix does not open the networks behind it`() throws {
        #expect(try verdict("http://[64:ff9b::808:808]/", answers: [], allowing: ["64:ff9b::/96"]) == nil)
        #expect(try verdict("http://[64:ff9b::a00:1]/", answers: [], allowing: ["64:ff9b::/96"]) == .blockedAddress)
        #expect(
            try verdict("http://[64:ff9b::a00:1]/", answers: [], allowing: ["64:ff9b::/96", "10.0.0.0/8"]) == nil)
        #expect(try verdict("http://[::ffff:10.0.0.1]/", answers: [], allowing: ["10.0.0.0/8"]) == .blockedAddress)
    }

    @Test func `all problems of the setting are reported, each with what would do`() throws {
        let entries = [
            "media.internal", "10.1.2.3/8", "10.0.0.0/33", "http://x", "*.example.com", "host:0", "host:70000", "",
            "0x7f.1", "[fd00::/8", "[fd00::/8]x", "fd00::1/8", "127.1",
        ]
        let error = #expect(throws: FetchAllowanceProblems.self) { try FetchAllowance.list(entries) }
        #expect(error?.problems.map(\.value) == Array(entries.dropFirst()))
        #expect(error?.problems.first?.remedy.contains("10.0.0.0/8") == true)
        #expect(error?.problems.last { $0.value == "fd00::1/8" }?.remedy.contains("fd00::/8") == true)
        #expect(error?.description.split(separator: "\n").count == entries.count - 1)
    }
}

/// The ways in which an IPv4 address can be written.
enum Spellings {
    static func ofIPv4(_ bits: UInt32) -> [String] {
        let parts = (0..<4).map { bits >> UInt32(24 - 8 * $0) & 0xFF }
        func join(_ radix: Int, _ prefix: String) -> String {
            parts.map { prefix + String($0, radix: radix) }.joined(separator: ".")
        }
        return [
            join(10, ""), join(8, "0"), join(8, "000"), join(16, "0x"), join(16, "0X"), String(bits),
            "0x" + String(bits, radix: 16), "0" + String(bits, radix: 8),
            "\(parts[0]).\(bits & 0xFF_FFFF)", "\(parts[0]).\(parts[1]).\(bits & 0xFFFF)",
            "0x\(String(parts[0], radix: 16)).\(bits & 0xFF_FFFF)", join(10, "") + ".0",
            String(
                String.UnicodeScalarView(
                    join(10, "").unicodeScalars.map { scalar in
                        scalar == "." ? scalar : Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar
                    })),
            join(10, "").replacing(".", with: "\u{3002}"), join(10, "").replacing(".", with: "%2e"),
            "\(join(10, ""))\\@example.com", "example.com@\(join(10, ""))",
        ]
    }

    /// In brackets.
    static func inIPv6(_ bits: UInt32) -> [String] {
        let high = String(bits >> 16, radix: 16)
        let low = String(bits & 0xFFFF, radix: 16)
        let inverted = ~bits
        let teredo = "\(String(inverted >> 16, radix: 16)):\(String(inverted & 0xFFFF, radix: 16))"
        return [
            "[::ffff:\(high):\(low)]", "[::ffff:\(IPAddress.v4(bits))]", "[0:0:0:0:0:FFFF:\(high):\(low)]",
            "[::\(high):\(low)]", "[::ffff:0:\(high):\(low)]", "[64:ff9b::\(high):\(low)]",
            "[64:ff9b:1::\(high):\(low)]", "[2002:\(high):\(low)::1]", "[2001:0:\(high):\(low)::1]",
            "[2001:0:5db8:d822:8000:63bf:\(teredo)]", "[2a00:1450::5efe:\(high):\(low)]",
            "[2a00:1450:1:2:200:5efe:\(high):\(low)]",
        ]
    }
}

extension SeededGenerator {
    mutating func next32() -> UInt32 { UInt32(truncatingIfNeeded: next()) }
    mutating func next128() -> UInt128 { UInt128(next()) << 64 | UInt128(next()) }
}
