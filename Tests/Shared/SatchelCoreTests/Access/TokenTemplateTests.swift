import SatchelCore
import Foundation
import TestSupport
import Testing

@Suite struct TokenTemplateTests {
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    private static func token(_ generator: inout some RandomNumberGenerator) -> (id: String, AccessToken) {
        func letters(_ count: Int) -> String {
            String((0..<count).map { _ in alphabet[Int.random(in: 0..<62, using: &generator)] })
        }
        let (id, kind) = (letters(22), TokenKind.allCases.randomElement(using: &generator) ?? .link)
        return (id, AccessToken(secretText: kind.rawValue + id + letters(49)))
    }

    /// Texts of all kinds: what looks like a token, the mark itself, tokens and keys side by side.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a text comes out as it went in, and holds no secret meanwhile`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let tokens = (0..<3).map { _ in Self.token(&generator) }
        let strange = Self.token(&generator).1
        let keys = (0..<2).map { number in
            let key = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }).base64URL
            return (
                RenditionKeyPlace(
                    link: tokens[number].id, role: RenditionRole.allCases.randomElement(using: &generator) ?? .main),
                key
            )
        }
        var (text, ended) = (Data(), Data())
        var (used, places): (Set<String>, Set<RenditionKeyPlace>) = ([], [])
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let (id, token) = tokens[Int.random(in: 0..<3, using: &generator)]
            let (place, key) = keys[Int.random(in: 0..<2, using: &generator)]
            let piece =
                switch Int.random(in: 0..<7, using: &generator) {
                case 0: Data([0x1A])
                case 1: Data(strange.secretText.utf8)
                case 2: Data((token.secretText.dropLast() + "-").utf8)
                case 3: Data((0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) })
                case 4: Data("key:\(place.link):main".utf8)
                case 5: Data(key.utf8)
                default: Data(token.secretText.utf8)
                }
            let isToken = piece == Data(token.secretText.utf8)
            let isKey = piece == Data(key.utf8)
            if isToken { used.insert(id) }
            if isKey {
                used.insert(place.link)
                places.insert(place)
            }
            text += piece
            ended += isToken ? piece.prefix(8) : isKey ? Data() : piece
        }
        let known = Dictionary(uniqueKeysWithValues: keys)
        let template = TokenTemplate(text, hiding: tokens.map(\.1), keys: known)
        let kept = TokenTemplate(stored: template.stored)
        #expect(kept.tokens == used && kept.keys == places)
        #expect(kept.text(with: Dictionary(uniqueKeysWithValues: tokens), keys: known) == text)
        #expect(kept.text(with: [:]) == ended)
        for secret in tokens.map(\.1.secretText) + keys.map(\.1) {
            #expect(template.stored.range(of: Data(secret.utf8)) == nil)
        }
    }
}
