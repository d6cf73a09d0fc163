import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import S3

@Suite struct SigV4Tests {
    /// A request as the judge reads it.
    private struct Case: Encodable {
        var method: String
        var scheme: String
        var authority: String
        var path: String
        var query: [[String]]
        var headers: [[String]]
        var body: String
        var time: String
        var accessKey: String
        var secretKey: String
        var token: String?
        var region: String
        var expires: Int
        /// What we made of it.
        var target: String
        var authorization: String
        var presigned: String
    }

    /// Signs each request with botocore, which also encodes path and query by itself, and prints those that differ.
    private static let judge = """
        import hashlib, json, sys
        from urllib.parse import quote, urlsplit, parse_qs
        from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        def sign(auth, request, time):
            request.context['timestamp'] = time
            auth._modify_request_before_signing(request)
            text = auth.string_to_sign(request, auth.canonical_request(request))
            auth._inject_signature_to_request(request, auth.signature(text, request))

        count = 0
        for case in json.load(open(sys.argv[1])):
            credentials = Credentials(case['accessKey'], case['secretKey'], case.get('token'))
            items = sorted((quote(n, safe='-_.~'), quote(v, safe='-_.~')) for n, v in case['query'])
            target = quote(case['path'], safe='/-_.~')
            if items: target += '?' + '&'.join(n + '=' + v for n, v in items)
            url = f"{case['scheme']}://{case['authority']}{target}"
            plain = AWSRequest(method=case['method'], url=url, data=case['body'].encode())
            for name, value in case['headers']: plain.headers[name] = value
            sign(S3SigV4Auth(credentials, 's3', case['region']), plain, case['time'])
            link = AWSRequest(method=case['method'], url=url)
            sign(S3SigV4QueryAuth(credentials, 's3', case['region'], expires=case['expires']), link, case['time'])
            theirs = parse_qs(urlsplit(link.url).query)['X-Amz-Signature'][0]
            ours = parse_qs(urlsplit(case['presigned']).query)['X-Amz-Signature'][0]
            for what, one, other in (('target', target, case['target']),
                                     ('header', plain.headers['Authorization'], case['authorization']),
                                     ('link', theirs, ours)):
                if one != other: print(what, case['method'], url, one, other, case['headers'], sep=' | ')
            count += 1
        print(count, 'compared')
        """

    private static let alphabet = Array(
        "abcXYZ0189-._~/ +%&=?#:;,@!$'()*[]{}<>|\\\"^`\täß€😀é\u{0301}漢\u{7F}")

    private static func text(_ longest: Int, using generator: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...longest, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? "x"
            })
    }

    @Test func `two thousand odd requests are signed as botocore signs them`() throws {
        var generator = SeededGenerator(seed: 4)
        var cases: [Case] = []
        for number in 0..<2000 {
            let token =
                Bool.random(using: &generator) ? "token/" + Self.text(9, using: &generator).filter(\.isASCII) : nil
            let credentials = S3Credentials(
                accessKey: "AKIA\(number)", secretKey: "s3cr3t/+\(number)", sessionToken: token)
            let region = ["us-east-1", "eu-central-1", "cn-north-1"][number % 3]
            let scheme = number % 2 == 0 ? "http" : "https"
            let authority = ["bucket.s3.amazonaws.com", "127.0.0.1:9000", "[::1]:9000"][number % 3]
            // One value a name: of several in a link's query botocore keeps one.
            var names: Set<String> = []
            let query = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                (name: "q" + Self.text(6, using: &generator), value: Self.text(12, using: &generator))
            }.filter { names.insert($0.name).inserted }
            let words = ["a", "b  c", " d ", "ä", "\u{1F600}", "x,y", "", "a\tb"]
            let headers = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                (
                    name: ["X-Amz-Meta-One", "x-amz-meta-two", "Content-Type", "RANGE", "User-Agent", "Expect"]
                        .randomElement(using: &generator) ?? "", value: words.randomElement(using: &generator) ?? ""
                )
            }
            let request = SigV4.Request(
                ["GET", "PUT", "POST", "HEAD", "DELETE"][number % 5], authority: authority,
                path: "/" + Self.text(40, using: &generator), query: query, headers: headers)
            let body = Self.text(30, using: &generator)
            let instant = Instant(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &generator))
            let signer = SigV4(credentials: credentials, region: region)
            let signed = signer.signed(request, hash: Data(body.utf8).sha256, at: instant)
            let time = try #require(signed.first { $0.name == "X-Amz-Date" }?.value)
            let expires = Int.random(in: 1...604_800, using: &generator)
            cases.append(
                Case(
                    method: request.method, scheme: scheme, authority: authority, path: request.path,
                    query: query.map { [$0.name, $0.value] }, headers: headers.map { [$0.name, $0.value] }, body: body,
                    time: time, accessKey: credentials.accessKey, secretKey: credentials.secretKey, token: token,
                    region: region, expires: expires, target: request.target,
                    authorization: try #require(signed.first { $0.name == "Authorization" }?.value),
                    presigned: signer.presigned(request, for: .seconds(expires), at: instant)))
        }
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "cases.json")
        try JSONEncoder().encode(cases).write(to: file)
        let judged = try Python.run(Self.judge, [file.path(percentEncoded: false)])
        #expect(judged.outputText == "2000 compared\n", "\(judged.errorText.suffix(2000))")
        #expect(judged.status == 0)
    }

    /// From "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" of the Amazon S3 API
    /// Reference, which uses these keys.
    @Test func `the published example has its published signature`() {
        let signer = SigV4(
            credentials: S3Credentials(
                accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1")
        let request = SigV4.Request(
            "GET", authority: "examplebucket.s3.amazonaws.com", path: "/test.txt",
            headers: [(name: "Range", value: "bytes=0-9")])
        let signed = signer.signed(
            request, hash: Data().sha256, at: Instant("2013-05-24T00:00:00.000Z") ?? Instant(milliseconds: 0))
        #expect(
            signed.last?.value
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
    }

    @Test func `what credentials print has no secret`() {
        let credentials = S3Credentials(accessKey: "AKIA", secretKey: "hidden-one", sessionToken: "hidden-two")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(!text.contains("hidden"))
        }
    }
}
