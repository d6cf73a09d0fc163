import TestSupport
import Testing

@testable import API

/// What all pages share: assets and the policy for browsers.
@Suite struct PageTests {
    @Test func `an asset's path has its hash, and opens it alone`() throws {
        #expect(Set(Asset.all.map(\.path)).count == Asset.all.count)
        for asset in Asset.all {
            let judge = try Program.tool("sha256sum").run([], input: .init(asset.bytes))
            let hash = judge.outputText.prefix(16)
            let parts = asset.name.split(separator: ".")
            #expect(asset.path == "/assets/\(parts[0])-\(hash).\(parts[1])")
            #expect(Asset.at(String(asset.path.dropFirst("/assets/".count)))?.name == asset.name)
            #expect(Asset.at(asset.name) == nil)
        }
        #expect(Asset.at("") == nil && Asset.at("../preview.css") == nil)
    }

    @Test func `no asset names another site, or needs what the policy forbids`() {
        for asset in Asset.all {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            for word in ["http:", "https:", "//cdn", "url(", "@import", "innerHTML", "eval(", "document.write"] {
                #expect(!text.contains(word), "\(asset.name) has \(word)")
            }
        }
    }

    @Test func `each page has a nonce of its own, and an origin of its own`() throws {
        let policies = (0..<50).map { _ in PagePolicy() }
        #expect(Set(policies.map(\.nonce)).count == 50)
        let policy = policies[0]
        #expect(
            policy.sandboxed
                == "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-\(policy.nonce)'; img-src 'self' data:; media-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types satchel; sandbox allow-scripts allow-forms"
        )
    }
}
