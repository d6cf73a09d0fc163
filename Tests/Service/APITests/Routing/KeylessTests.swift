import SatchelCore
import Foundation
import Testing

@testable import API

/// Who is answered where no key is required.
@Suite struct KeylessTests {
    @Test func `only loopback's hosts and the public URL's are admitted, whatever their port`() {
        let access = KeylessAccess(publicURL: "http://Satchel.example:8080/media")
        for host in [
            "localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "127.255.3.4", "[::1]", "[::1]:8080",
            "[0:0:0:0:0:0:0:1]", "satchel.example", "SATCHEL.example:9",
        ] {
            #expect(access.admits(host: host, fetchSite: nil), "\(host)")
        }
        for host in [
            "", ":8080", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
            "127.evil.example", "128.0.0.1", "10.0.0.1", "0.0.0.0", "127.1", "0177.0.0.1", "[::2]", "[::]", "::1",
            "[127.0.0.1]", "[::1", "[]", "[::1].evil.example", "localhost:80:90", "localhost:http", "localhost/",
            "x@localhost", "satchel.example.evil", "[::ffff:127.0.0.1]",
        ] {
            #expect(!access.admits(host: host, fetchSite: nil), "\(host)")
        }
        #expect(!access.admits(host: nil, fetchSite: nil))
        #expect(KeylessAccess(publicURL: "http://[fd00::1]:80").admits(host: "[FD00::1]", fetchSite: nil))
        #expect(!KeylessAccess(publicURL: "").admits(host: "", fetchSite: nil))
    }

    @Test func `a browser's word on who asks refuses other sites, and their other ports`() {
        let access = KeylessAccess(publicURL: "http://127.0.0.1:8080")
        for site in [nil, "none", "same-origin"] { #expect(access.admits(host: "127.0.0.1", fetchSite: site)) }
        for site in ["cross-site", "same-site", "Cross-Site", "none, cross-site"] {
            #expect(!access.admits(host: "127.0.0.1", fetchSite: site), "\(site)")
        }
    }

    /// The status and code of an answer to a request with these headers alone.
    private func ask(
        _ live: LiveService, _ endpoint: Endpoint, _ headers: String, version: String = "1.1"
    ) async throws -> (status: Int, code: String?) {
        let path = endpoint.path.replacing("{id}", with: "nothing").replacing("{token}/{name}", with: "x/main.jpg")
        return try await live.connect { connection in
            let line = "\(endpoint.method) \(path) HTTP/\(version)\r\n"
            try await connection.send(line + headers + "Connection: close\r\n\r\n")
            let reply = try await connection.reply(to: "\(endpoint.method)" == "HEAD" ? .head : .get)
            return (reply.status, try? reply.json["code"].string)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `without a key no web page gets at any call, and programs get at all`() async throws {
        try await LiveService.run {
            $0.settings.keysRequired = false
            $0.worker = .nobody
        } _: { live in
            let rebound = "Host: evil.example:\(live.port)\r\n"
            let local = "Host: 127.0.0.1:\(live.port)\r\n"
            for endpoint in Endpoint.all {
                let strangers = [
                    rebound, local + "Sec-Fetch-Site: cross-site\r\n", local + "Sec-Fetch-Site: same-site\r\n",
                    rebound + "Sec-Fetch-Site: same-origin\r\n",
                ]
                for headers in strangers {
                    let (status, code) = try await ask(live, endpoint, headers)
                    if endpoint.access == .anyone {
                        #expect([200, 204, 404].contains(status), "\(endpoint.name): \(status)")
                    } else {
                        #expect(status == 403 && code == "forbidden", "\(endpoint.name) with \(headers): \(status)")
                    }
                }
                let homes = [
                    local, "Host: localhost\r\n", "Host: media.example.com\r\n",
                    local + "Sec-Fetch-Site: same-origin\r\n", local + "Sec-Fetch-Site: none\r\n",
                ]
                for headers in homes {
                    let (status, _) = try await ask(live, endpoint, headers)
                    #expect(![401, 403, 500].contains(status), "\(endpoint.name) with \(headers): \(status)")
                }
            }
            // Nobody says whom it is for.
            #expect(try await ask(live, .listJobs, "", version: "1.0").status == 403)
            #expect(try await ask(live, .alive, "", version: "1.0").status == 200)
            // Whoever has a key has no need of the name.
            let key = try #require(live.keys[.read])
            let reply = try await ask(live, .listJobs, rebound + "Authorization: Bearer \(key.secretText)\r\n")
            #expect(reply.status == 200)
            #expect(try await ask(live, .listJobs, local + "Authorization: Bearer nonsense\r\n").status == 401)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `public metrics are no web page's either, where no key is needed`() async throws {
        try await LiveService.run {
            $0.settings.keysRequired = false
            $0.settings.metricsArePublic = true
            $0.worker = .nobody
        } _: { live in
            let evil = try await ask(live, .metrics, "Host: evil.example\r\n")
            let local = try await ask(live, .metrics, "Host: localhost\r\n")
            #expect(evil.status == 403 && local.status == 200)
        }
        try await LiveService.run {
            $0.settings.metricsArePublic = true
            $0.worker = .nobody
        } _: { live in
            let named = try await ask(live, .metrics, "Host: prometheus.example\r\n")
            #expect(named.status == 200)
        }
    }
}
