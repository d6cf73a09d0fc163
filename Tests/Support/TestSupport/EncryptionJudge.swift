public import SatchelCore
public import Foundation

/// Files as messengers encrypt them, by Python's `cryptography`, which shares no code with ours.
public enum EncryptionJudge {
    /// A file before it is handed around.
    public struct Plain: Sendable {
        public var scheme: EncryptionScheme
        public var bytes: Data
        public var key: Data
        /// Signal's stands in the ciphertext.
        public var iv: Data
        /// Zeros behind it that Signal's clients add.
        public var padding: Int

        /// With a key, an IV and padding by chance.
        public init(
            _ scheme: EncryptionScheme, _ bytes: Data, ivBytes: Int? = nil, using random: inout SeededGenerator
        ) {
            func data(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }) }
            self.scheme = scheme
            self.bytes = bytes
            key = data(scheme.keyBytes)
            iv = data(ivBytes ?? scheme.ivBytes.randomElement(using: &random) ?? 16)
            padding = Int.random(in: 0...600, using: &random)
        }
    }

    /// A file as it is handed around.
    public struct Encrypted: Sendable {
        public var bytes: Data
        public var encryption: MediaEncryption
        /// As a source says it, in JSON.
        public var description: String
    }

    public static func encrypt(_ files: [Plain]) throws -> [Encrypted] {
        let directory = try TemporaryDirectory(inMemory: true)
        for (index, file) in files.enumerated() {
            try file.bytes.write(to: directory.url.appending(path: "\(index)"))
        }
        let cases = files.map { file in
            [
                "scheme": file.scheme.rawValue, "key": file.key.base64EncodedString(),
                "iv": file.iv.base64EncodedString(), "padding": String(file.padding),
            ]
        }
        let text = String(decoding: try JSONEncoder().encode(cases), as: UTF8.self)
        try run(["encrypt", directory.path, text])
        return try files.indices.map { index in
            let bytes = try Data(contentsOf: directory.url.appending(path: "\(index).encrypted"))
            let description = try String(contentsOf: directory.url.appending(path: "\(index).json"), encoding: .utf8)
            let file = files[index]
            let facts = try JSONDecoder().decode(Facts.self, from: Data(description.utf8))
            let sha256 = facts.digest ?? facts.hashes?["sha256"]
            let key = MediaEncryption.Key(
                key: file.key, iv: file.scheme == .signal ? nil : file.iv,
                sha256: sha256.flatMap(Data.init(anyBase64:)), size: facts.size)
            return Encrypted(bytes: bytes, encryption: MediaEncryption(file.scheme, key), description: description)
        }
    }

    public static func encrypt(_ file: Plain) throws -> Encrypted {
        try encrypt([file])[0]
    }

    /// What is in a file that was encrypted by somebody else; nil where it isn't what `description` says.
    ///
    /// - Parameter description: As a rendition says it, in JSON.
    public static func decrypt(_ bytes: Data, _ description: String) throws -> Data? {
        let directory = try TemporaryDirectory(inMemory: true)
        let file = directory.url.appending(path: "0")
        try bytes.write(to: file)
        try run(["decrypt", directory.path, description])
        return try? Data(contentsOf: directory.url.appending(path: "0.decrypted"))
    }

    private struct Facts: Decodable {
        var digest: String?
        var hashes: [String: String]?
        var size: Int64?
    }

    private struct Failure: Error {
        var errors: String
    }

    private static func run(_ arguments: [String]) throws {
        let result = try Python.run(script, arguments)
        guard result.status == 0 else { throw Failure(errors: String(decoding: result.errors, as: UTF8.self)) }
    }

    private static let script = """
        import base64, hashlib, hmac, json, sys
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives import padding
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        def encoded(data): return base64.b64encode(data).decode()
        def bare(data): return encoded(data).rstrip('=')
        def url(data): return bare(data).replace('+', '-').replace('/', '_')
        def decoded(text): return base64.b64decode(text.replace('-', '+').replace('_', '/') + '=' * (-len(text) % 4))

        def crypt(key, mode, data):
            side = Cipher(algorithms.AES(key), mode).encryptor()
            return side.update(data) + side.finalize(), side

        def matrix(data, key, iv, zeros):
            sealed, _ = crypt(key, modes.CTR(iv), data)
            return sealed, {'v': 'v2', 'iv': bare(iv), 'hashes': {'sha256': bare(hashlib.sha256(sealed).digest())},
                            'key': {'kty': 'oct', 'alg': 'A256CTR', 'k': url(key), 'ext': True,
                                    'key_ops': ['encrypt', 'decrypt']}}

        def aesgcm(data, key, iv, zeros):
            sealed, side = crypt(key, modes.GCM(iv), data)
            return sealed + side.tag, {'fragment': (iv + key).hex()}

        def signal(data, key, iv, zeros):
            pad = padding.PKCS7(128).padder()
            sealed, _ = crypt(key[:32], modes.CBC(iv), pad.update(data + bytes(zeros)) + pad.finalize())
            sealed = iv + sealed
            sealed += hmac.new(key[32:], sealed, hashlib.sha256).digest()
            return sealed, {'key': encoded(key), 'digest': encoded(hashlib.sha256(sealed).digest()), 'size': len(data)}

        def opened(data, told):
            if told['scheme'] == 'matrix':
                assert told['v'] == 'v2' and told['key']['alg'] == 'A256CTR' and told['key']['kty'] == 'oct'
                assert set(told['key']['key_ops']) >= {'encrypt', 'decrypt'} and told['key']['ext'] is True
                if hashlib.sha256(data).digest() != decoded(told['hashes']['sha256']): return None
                side = Cipher(algorithms.AES(decoded(told['key']['k'])), modes.CTR(decoded(told['iv']))).decryptor()
                return side.update(data) + side.finalize()
            fragment = bytes.fromhex(told['fragment'])
            mode = modes.GCM(fragment[:-32], data[-16:])
            side = Cipher(algorithms.AES(fragment[-32:]), mode).decryptor()
            try: return side.update(data[:-16]) + side.finalize()
            except InvalidTag: return None

        what, directory, text = sys.argv[1:]
        def read(name):
            with open(f'{directory}/{name}', 'rb') as file: return file.read()
        def write(name, data):
            with open(f'{directory}/{name}', 'wb') as file: file.write(data)
        if what == 'encrypt':
            for index, case in enumerate(json.loads(text)):
                sealed, told = globals()[case['scheme']](
                    read(index), decoded(case['key']), decoded(case['iv']), int(case['padding']))
                write(f'{index}.encrypted', sealed)
                write(f'{index}.json', json.dumps({'scheme': case['scheme'], **told}).encode())
        else:
            data = opened(read(0), json.loads(text))
            if data is not None: write('0.decrypted', data)
        """
}
