// What the client uses of swift-crypto, which on Apple's platforms is CryptoKit. Nothing is encrypted by it: what the client
// does with keys is tested where it runs.
public import Foundation

public struct SymmetricKey: Sendable {
    public init(data: some ContiguousBytes) {}
}

public struct SHA256: Sendable {
    public struct Digest: Sequence, Sendable {
        public func makeIterator() -> [UInt8].Iterator { [].makeIterator() }
    }

    public init() {}
    public mutating func update(data: some DataProtocol) {}
    public func finalize() -> Digest { Digest() }
}

public enum AES {
    public enum GCM {
        public struct Nonce: Sendable {
            public init(data: some DataProtocol) throws {}
        }

        public struct SealedBox: Sendable {
            let bytes: Data

            public init(nonce: Nonce, ciphertext: some DataProtocol, tag: some DataProtocol) throws {
                bytes = Data(ciphertext)
            }
        }

        public static func open(_ box: SealedBox, using key: SymmetricKey) throws -> Data { box.bytes }
    }
}
