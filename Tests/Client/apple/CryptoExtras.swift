// What the client uses of the product CryptoExtras.
public import Crypto
public import Foundation

extension AES {
    public enum _CTR {
        public struct Nonce: Sendable {
            public init(nonceBytes: some Collection<UInt8>) throws {}
        }

        public static func encrypt(
            _ plaintext: some DataProtocol, using key: SymmetricKey, nonce: Nonce
        ) throws -> Data { Data(plaintext) }
    }
}
