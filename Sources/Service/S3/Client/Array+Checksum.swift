internal import Crypto
internal import FoundationEssentials

extension Array<UInt8> {
    /// What `Content-MD5` has (RFC 1864).
    var base64MD5: String { Data(Insecure.MD5.hash(data: self)).base64EncodedString() }
}
