import SatchelCore
import Foundation
import Testing

@testable import S3

@Suite struct S3ConfigurationTests {
    @Test func `a location names bucket and prefix`() throws {
        #expect(try S3Configuration("s3://media").prefix == "")
        #expect(try S3Configuration("s3://media/").prefix == "")
        let nested = try S3Configuration("s3://my.media-1/a/b_c//")
        #expect(nested.bucket == "my.media-1")
        #expect(nested.prefix == "a/b_c/")
    }

    @Test(arguments: [
        "", "media", "https://media", "s3://", "s3://ab", "s3://Media", "s3://-media", "s3://me..dia", "s3://me_dia",
        "s3://media/a b", "s3://media/../x", "s3://media/ä", "s3://media/a?b",
        "s3://" + String(repeating: "a", count: 64),
    ])
    func `what names no bucket is refused, with what is wrong`(location: String) {
        let error = #expect(throws: S3Error.self) { try S3Configuration(location) }
        guard case .invalidSetting(name: "blobs", value: location, _)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        (nil, false, "eu-west-1", "https", "media.s3.eu-west-1.amazonaws.com", "/k"),
        (nil, true, "cn-north-1", "https", "s3.cn-north-1.amazonaws.com.cn", "/media/k"),
        ("http://127.0.0.1:9000", true, "us-east-1", "http", "127.0.0.1:9000", "/media/k"),
        ("https://s3.example.com/", false, "us-east-1", "https", "media.s3.example.com", "/k"),
        ("https://s3.example.com:443", false, "us-east-1", "https", "media.s3.example.com", "/k"),
        ("http://s3.example.com:443", false, "us-east-1", "http", "media.s3.example.com:443", "/k"),
    ])
    func `the bucket is in the host or in the path`(
        endpoint: String?, usesPathStyle: Bool, region: String, scheme: String, authority: String, path: String
    ) throws {
        let address = try S3Address(
            S3Configuration("s3://media", region: region, endpoint: endpoint, usesPathStyle: usesPathStyle))
        #expect(address.scheme == scheme)
        #expect(address.authority == authority)
        #expect(address.path(of: "k") == path)
    }

    @Test(arguments: [
        "s3.example.com", "ftp://a", "http://", "http://a/b", "http://user@a", "http://a?b", "http://a b",
    ])
    func `what is no endpoint is refused`(endpoint: String) throws {
        let configuration = try S3Configuration("s3://media", endpoint: endpoint)
        #expect(throws: S3Error.self) { try S3Address(configuration) }
    }

    @Test func `a file of authorities that is none is refused when the client is made`() throws {
        let configuration = try S3Configuration("s3://media", certificateAuthorities: "/nowhere")
        let error = #expect(throws: S3Error.self) { try S3Client(configuration) }
        #expect(error?.description == "S3.ca can't be '/nowhere': it has to be a file of certificates in PEM.")
    }

    @Test func `encryption and storage class are said with each new object`() throws {
        func headers(_ encryption: S3Configuration.Encryption, _ storageClass: String? = nil) throws -> [String: String]
        {
            let configuration = try S3Configuration("s3://media", encryption: encryption, storageClass: storageClass)
            return Dictionary(
                uniqueKeysWithValues: configuration.storageHeaders.map { ($0.name.lowercased(), $0.value) })
        }
        #expect(try headers(.bucket) == [:])
        #expect(try headers(.store) == ["x-amz-server-side-encryption": "AES256"])
        #expect(try headers(.managed(key: nil)) == ["x-amz-server-side-encryption": "aws:kms"])
        #expect(
            try headers(.managed(key: "k"), "STANDARD_IA") == [
                "x-amz-server-side-encryption": "aws:kms", "x-amz-server-side-encryption-aws-kms-key-id": "k",
                "x-amz-storage-class": "STANDARD_IA",
            ])
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
        ("06 Nov 1994", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("Sun, 99 Nov 1994 08:49:37 GMT", nil),
    ])
    func `an answer's date is read`(text: String, expected: String?) {
        #expect(Instant(httpDate: text)?.description == expected)
    }

    @Test func `a file of any size has parts that a bucket takes`() throws {
        let client = try S3Client(S3Configuration("s3://media"))
        for bytes in [64 << 20 + 1, 80 << 30, 80 << 30 + 1, 5 << 40] as [Int64] {
            let size = client.partSize(for: bytes)
            #expect(size >= 8 << 20)
            #expect((bytes + size - 1) / size <= 10_000)
        }
    }
}
