import API
import ArgumentParser
import SatchelCore
import Foundation
import Logging

/// What the service takes on the command line; every setting has a key beside.
struct ServeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file of settings. Default: $SATCHEL_CONFIG, else /etc/satchel/satchel.yaml where it is there.",
            valueName: "file"),
        completion: .yaml)
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The store's directory, made on first use, or a database: postgres://user@host/name.", valueName: "store"),
        completion: .directory)
    var store: String?

    @Option(
        help: ArgumentHelp("What this node does beside others of its store: all, api or worker.", valueName: "role"),
        completion: .list(NodeRole.allCases.map(\.rawValue)))
    var role: String?

    @Option(help: ArgumentHelp("Where to listen. Default: 127.0.0.1:8080.", valueName: "address:port"))
    var listen: String?

    @Option(help: ArgumentHelp("Where clients reach the service.", valueName: "url"))
    var publicURL: String?

    @Option(help: ArgumentHelp("Memory for all codec processes together, such as 4G.", valueName: "size"))
    var memory: String?

    @Option(help: ArgumentHelp("Codec processes at work at once.", valueName: "count"))
    var codecs: String?

    @Option(
        help: ArgumentHelp("A YAML file of profiles that add to the built-in ones.", valueName: "file"),
        completion: .yaml)
    var profiles: String?

    @Option(
        help: ArgumentHelp("Exceptions to the fetch guard; several with commas, or repeated.", valueName: "host"))
    var fetchAllow: [Several<String>] = []

    @Option(help: ArgumentHelp("The same for callbacks; several with commas, or repeated.", valueName: "host"))
    var callbackAllow: [Several<String>] = []

    @Option(
        help: ArgumentHelp("A PEM file with the certificate and its chain.", valueName: "file"), completion: .file())
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("A PEM file with the certificate's private key.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"),
        completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @Option(help: ArgumentHelp("json or text.", valueName: "format"), completion: .list(["json", "text"]))
    var logFormat: String?

    @Option(help: ArgumentHelp("After SIGTERM, for work to finish. Default: 25 seconds.", valueName: "time"))
    var grace: String?

    @Option(
        help: ArgumentHelp(
            "Any setting, such as limits.image_bytes=20M; several with commas, or repeated. 'satchel config keys' lists them.",
            valueName: "key=value"))
    var set: [String] = []

    func validate() throws {
        for text in set where !text.contains("=") || text.hasPrefix("=") {
            throw ValidationError("--set takes a key and a value, such as --set limits.image_bytes=20M, not '\(text)'.")
        }
    }

    private var flags: [ResolvedConfiguration.Flag] {
        let single: [(String, String?, String)] = [
            ("store", store, "--store"), ("role", role, "--role"), ("listen", listen, "--listen"),
            ("public_url", publicURL, "--public-url"),
            ("memory", memory, "--memory"), ("codecs", codecs, "--codecs"), ("profiles", profiles, "--profiles"),
            ("tls.certificate", tlsCertificate, "--tls-certificate"), ("tls.key", tlsKey, "--tls-key"),
            ("log.level", logLevel, "--log-level"), ("log.format", logFormat, "--log-format"),
            ("grace", grace, "--grace"),
        ]
        var flags = single.compactMap { key, text, origin in
            text.map { ResolvedConfiguration.Flag(key: key, texts: [$0], origin: origin) }
        }
        if !fetchAllow.isEmpty {
            flags.append(.init(key: "fetch.allow", texts: fetchAllow.all(), origin: "--fetch-allow"))
        }
        if !callbackAllow.isEmpty {
            flags.append(.init(key: "callback.allow", texts: callbackAllow.all(), origin: "--callback-allow"))
        }
        return flags + set.flatMap(Self.settings)
    }

    /// What one `--set` brings: `codecs=2`, or several with commas. What doesn't begin with a setting's key belongs to
    /// the value before it: `fetch.allow=media.internal,10.0.0.0/8,codecs=2`.
    private static func settings(in text: String) -> [ResolvedConfiguration.Flag] {
        var texts: [String] = []
        for part in CommaSeparated.parts(of: text) {
            let key = part.prefix { $0 != "=" }
            if texts.isEmpty || part.contains("=") && Setting.byKey[String(key)] != nil {
                texts.append(String(part))
            } else {
                texts[texts.count - 1] += "," + part
            }
        }
        return texts.map { text in
            let key = String(text.prefix { $0 != "=" })
            let value = String(text.dropFirst(key.count + 1))
            let isList = Setting.byKey[key]?.isList ?? false
            return ResolvedConfiguration.Flag(
                key: key, texts: isList ? CommaSeparated.texts(of: value) : [CommaSeparated.unescaped(value)],
                origin: "--set \(key)")
        }
    }

    /// - Parameter sockets: What is listened on already.
    func read(sockets: [PassedSocket] = []) -> ResolvedConfiguration {
        let environment = ProcessInfo.processInfo.environment
        return ResolvedConfiguration(
            flags: flags, environment: environment, file: ConfigurationFile.path(named: config, environment),
            sockets: sockets)
    }

    /// The settings, or every problem at once.
    func configuration(sockets: [PassedSocket]) throws -> ServiceConfiguration {
        let read = read(sockets: sockets)
        for warning in read.warnings { Console.printError("Warning: \(warning)") }
        try read.requireSound()
        return read.configuration
    }
}

extension ResolvedConfiguration {
    func requireSound() throws {
        guard !problems.isEmpty else { return }
        throw CommandFailure(
            "\(Quantity.count(problems.count, "setting")) can't be taken:\n"
                + problems.map { "  \($0)" }.joined(separator: "\n"),
            status: 2)
    }
}
