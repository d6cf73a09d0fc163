import API
import ArgumentParser
import SatchelCore
import Foundation
import Logging

/// Options for the settings file and the address of the service.
struct ListenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Settings file (YAML). Default: $SATCHEL_CONFIG, or /etc/satchel/satchel.yaml if it exists.",
            valueName: "file"),
        completion: .yaml)
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Address and port that the service listens on. Default: 127.0.0.1:8080.", valueName: "address:port"))
    var listen: String?

    @Option(help: ArgumentHelp("PEM file with the certificate and its chain.", valueName: "file"), completion: .file())
    var tlsCertificate: String?

    /// Reads the settings from these flags, the given ones, the environment and the file.
    ///
    /// - Parameter sockets: Sockets passed by the service manager.
    func read(
        _ flags: [ResolvedConfiguration.Flag] = [], sockets: [PassedSocket] = []
    ) -> ResolvedConfiguration {
        let environment = ProcessInfo.processInfo.environment
        return ResolvedConfiguration(
            flags: [
                ResolvedConfiguration.Flag("listen", listen, "--listen"),
                ResolvedConfiguration.Flag("tls.certificate", tlsCertificate, "--tls-certificate"),
            ].compactMap(\.self) + flags, environment: environment,
            file: ConfigurationFile.path(named: config, environment), sockets: sockets)
    }
}

/// Options of the service. Each is also a setting with a key.
struct ServeOptions: ParsableArguments {
    @OptionGroup var network: ListenOptions

    @Option(
        help: ArgumentHelp("PEM file with the private key of the certificate.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    @Option(help: ArgumentHelp("URL at which clients reach the service.", valueName: "url"))
    var publicURL: String?

    @Option(
        help: ArgumentHelp(
            "Store to use: a directory, created on first use, or postgres://user@host/name.", valueName: "store"),
        completion: .directory)
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Role of this node among the nodes of its store: all, api or worker.", valueName: "role"),
        completion: .list(NodeRole.allCases.map(\.rawValue)))
    var role: String?

    @Option(help: ArgumentHelp("Memory for all codec processes together, such as 4G.", valueName: "size"))
    var memory: String?

    @Option(help: ArgumentHelp("Number of codec processes that run at the same time.", valueName: "count"))
    var codecs: String?

    @Option(
        help: ArgumentHelp("YAML file of profiles to add to the built-in ones.", valueName: "file"),
        completion: .yaml)
    var profiles: String?

    @Option(
        help: ArgumentHelp(
            "Private host, address or CIDR that Satchel may fetch from, with an optional port (comma-separated or repeated).",
            valueName: "host"))
    var fetchAllow: [Several<String>] = []

    @Option(
        help: ArgumentHelp(
            "Private host, address or CIDR that callbacks may call, with an optional port (comma-separated or repeated).",
            valueName: "host"))
    var callbackAllow: [Several<String>] = []

    @Option(
        help: ArgumentHelp(
            "Least severe level to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"),
        completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @Option(
        help: ArgumentHelp("Format of log lines: json or text.", valueName: "format"),
        completion: .list(["json", "text"]))
    var logFormat: String?

    @Option(
        help: ArgumentHelp("Time for running jobs to finish after SIGTERM. Default: 25 seconds.", valueName: "time"))
    var grace: String?

    @Option(
        help: ArgumentHelp(
            "Any setting, such as limits.image_bytes=20M (comma-separated or repeated). 'satchel config keys' lists them.",
            valueName: "key=value"))
    var set: [String] = []

    func validate() throws {
        for text in set where !text.contains("=") || text.hasPrefix("=") {
            throw ValidationError("--set must be key=value, such as --set limits.image_bytes=20M, not '\(text)'.")
        }
    }

    private var flags: [ResolvedConfiguration.Flag] {
        let single: [(String, String?, String)] = [
            ("tls.key", tlsKey, "--tls-key"), ("public_url", publicURL, "--public-url"), ("store", store, "--store"),
            ("role", role, "--role"), ("memory", memory, "--memory"), ("codecs", codecs, "--codecs"),
            ("profiles", profiles, "--profiles"), ("log.level", logLevel, "--log-level"),
            ("log.format", logFormat, "--log-format"), ("grace", grace, "--grace"),
        ]
        var flags = single.compactMap(ResolvedConfiguration.Flag.init)
        if !fetchAllow.isEmpty {
            flags.append(.init(key: "fetch.allow", texts: fetchAllow.all(), origin: "--fetch-allow"))
        }
        if !callbackAllow.isEmpty {
            flags.append(.init(key: "callback.allow", texts: callbackAllow.all(), origin: "--callback-allow"))
        }
        return flags + set.flatMap(Self.settings)
    }

    /// Reads one `--set`: `codecs=2`, or several settings separated by commas. A part that does not begin with the key of a
    /// setting belongs to the value before it: `fetch.allow=media.internal,10.0.0.0/8,codecs=2`.
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

    func read(sockets: [PassedSocket] = []) -> ResolvedConfiguration { network.read(flags, sockets: sockets) }

    /// Returns the settings and prints warnings.
    ///
    /// - Throws: ``CommandFailure`` with all problems.
    func configuration(sockets: [PassedSocket]) throws -> ServiceConfiguration {
        let read = self.read(sockets: sockets)
        for warning in read.warnings { Console.printError("Warning: \(warning)") }
        try read.requireSound()
        return read.configuration
    }
}

extension ResolvedConfiguration {
    func requireSound() throws {
        guard !problems.isEmpty else { return }
        throw CommandFailure(
            "\(Quantity.count(problems.count, "problem")) in the settings:\n"
                + problems.map { "  \($0)" }.joined(separator: "\n"),
            status: .usage)
    }
}
