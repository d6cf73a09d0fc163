import Testing

extension Program {
    /// Makes a self-signed certificate with its key, both in PEM.
    ///
    /// - Parameters:
    ///   - name: Its common name, by which a test tells it from another.
    ///   - hosts: What it is good for, as openssl writes them.
    public static func makeCertificate(
        _ name: String, for hosts: String = "DNS:localhost,IP:127.0.0.1", certificate: String, key: String
    ) throws {
        let made = try tool("openssl").run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=\(name)", "-addext", "subjectAltName=\(hosts)", "-keyout", key, "-out", certificate,
        ])
        try #require(made.status == 0, "openssl makes the certificate: \(made.errorText)")
    }
}
