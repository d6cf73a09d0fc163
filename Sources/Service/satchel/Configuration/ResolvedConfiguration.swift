import API
import SatchelCore
import Configuration
import Foundation
import S3

/// The settings in use: flags take precedence over the environment, the file and the defaults, in this order.
struct ResolvedConfiguration: Sendable {
    var configuration = ServiceConfiguration()
    /// The source of each setting that is not left at its default.
    var origins: [String: String] = [:]
    /// All problems.
    var problems: [ConfigurationProblem] = []
    /// Probable mistakes.
    var warnings: [String] = []

    /// A value given by a flag, whose name is `origin`.
    struct Flag: Sendable {
        var key: String
        var texts: [String]
        var origin: String

        init(key: String, texts: [String], origin: String) {
            self.key = key
            self.texts = texts
            self.origin = origin
        }

        /// Fails if the flag was not given.
        init?(_ key: String, _ text: String?, _ origin: String) {
            guard let text else { return nil }
            self.init(key: key, texts: [text], origin: origin)
        }
    }

    /// Environment variables that are not settings.
    private static let otherVariables = ["SATCHEL_CONFIG", "SATCHEL_CODEC", "SATCHEL_TARGETS"]

    /// - Parameters:
    ///   - file: The file to read; nil for none.
    ///   - sockets: Sockets passed by the service manager. They replace the setting `listen`.
    init(flags: [Flag], environment: [String: String], file path: String?, sockets: [PassedSocket] = []) {
        configuration.sockets = sockets
        let file = path.map { ConfigurationFile(path: $0) }
        problems += file?.problems ?? []
        let variables = environment.filter { $0.key.hasPrefix("SATCHEL_") && !$0.value.isEmpty }
        let known = Set(Setting.all.map(\.variable) + Self.otherVariables)
        for name in variables.keys.sorted() where !known.contains(name) {
            warnings.append(
                "the environment variable \(name) is not a setting" + NearestName.hint(for: name, in: known.sorted())
                    + ".")
        }
        for flag in flags where Setting.byKey[flag.key] == nil {
            problems.append(
                ConfigurationProblem(
                    key: flag.key, origin: flag.origin, value: nil,
                    remedy: "there is no such setting" + NearestName.hint(for: flag.key, in: Setting.all.map(\.key))))
        }
        let flagProvider = InMemoryProvider(
            name: "flags",
            values: Dictionary(grouping: flags, by: \.key).reduce(into: [:]) { values, flags in
                // Repeated flags extend a list. For other settings, the last one counts.
                values[Self.key(flags.key)] = Self.value(flags.key, flags.value.flatMap(\.texts))
            })
        let fileProvider = InMemoryProvider(
            name: "file",
            values: Dictionary(
                uniqueKeysWithValues: (file?.entries ?? [:]).map { key, entry in
                    (Self.key(key), Self.value(key, entry.texts))
                }))
        let layers: [(provider: any ConfigProvider, origin: (Setting) -> String)] = [
            (flagProvider, { setting in flags.last { $0.key == setting.key }?.origin ?? "" }),
            (
                EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "satchel"),
                \.variable
            ),
            (fileProvider, { setting in "\(path ?? "") line \(file?.entries[setting.key]?.line ?? 1)" }),
        ]
        for setting in Setting.all {
            for (provider, origin) in layers {
                guard let texts = Self.texts(of: setting, in: provider) else { continue }
                origins[setting.key] = origin(setting)
                do throws(SettingError) {
                    try setting.set(texts, &configuration)
                } catch {
                    problems.append(
                        ConfigurationProblem(
                            key: setting.key, origin: origin(setting),
                            value: error.entry ?? texts.joined(separator: ","), remedy: error.remedy))
                }
                break
            }
        }
        checkTogether()
    }

    private static func key(_ key: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(key.split(separator: ".").map { String($0) })
    }

    private static func value(_ key: String, _ texts: [String]) -> ConfigValue {
        let isList = Setting.byKey[key]?.isList ?? false
        return ConfigValue(isList ? .stringArray(texts) : .string(texts.last ?? ""), isSecret: false)
    }

    private static func texts(of setting: Setting, in provider: any ConfigProvider) -> [String]? {
        let found = try? provider.value(forKey: key(setting.key), type: setting.isList ? .stringArray : .string)
        return switch found?.value?.content {
        case .string(let text): [text]
        case .stringArray(let texts): texts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        default: nil
        }
    }

    // MARK: Settings that depend on each other

    private mutating func checkTogether() {
        func addError(_ key: String, _ value: String?, _ remedy: String) {
            problems.append(
                ConfigurationProblem(key: key, origin: origins[key] ?? "default", value: value, remedy: remedy))
        }
        switch (configuration.tlsCertificate, configuration.tlsKey) {
        case (nil, _?): addError("tls.certificate", nil, "must be set, because tls.key is")
        case (_?, nil): addError("tls.key", nil, "must be set, because tls.certificate is")
        default: break
        }
        if configuration.scan.url != nil, let socket = configuration.scan.socket {
            addError("scan.socket", socket, "must not be set together with scan.url")
        }
        switch (StoreLocation(configuration.store), configuration.blobs) {
        case (.database, nil):
            addError(
                "blobs", nil, "must be s3://bucket/prefix, because a store in PostgreSQL keeps its bytes in a bucket")
        case (.directory, let blobs?), (.memory, let blobs?):
            addError(
                "blobs", blobs, "must not be set unless the store is in PostgreSQL")
        default: break
        }
        if case .memory = StoreLocation(configuration.store), configuration.settings.role != .all {
            addError(
                "role", configuration.settings.role.rawValue,
                "must be 'all', because other nodes can't share a store in memory")
        }
        if let blobs = configuration.blobs {
            do throws(S3Error) {
                _ = try configuration.bucket.configuration(of: blobs, [:])
            } catch {
                addError("blobs", blobs, error.reason)
            }
        }
        for (key, path) in [
            ("s3.ca", configuration.bucket.certificateAuthorities),
            ("tls.certificate", configuration.tlsCertificate), ("tls.key", configuration.tlsKey),
            ("profiles", configuration.profiles),
        ] {
            if let path, !FileManager.default.isReadableFile(atPath: path) {
                addError(key, path, "must be an existing file that you have permission to read")
            }
        }
        if configuration.publicURL == nil, !configuration.isLocal || configuration.firstAddress == nil {
            addError(
                "public_url", nil,
                "must be set (or --public-url), because the service listens on \(configuration.places); for example https://media.example.com"
            )
        }
        if !configuration.isLocal, !configuration.settings.keysRequired {
            addError(
                "api_keys.required", "false", "must be true unless the service listens on the loopback interface only")
        }
        if let origin = origins["listen"], !configuration.sockets.isEmpty {
            warnings.append(
                "'listen' (\(origin)) is ignored, because the service manager passes \(configuration.places).")
        }
        do {
            let profiles = try ProfileFileOptions.all(in: configuration.profiles)
            let names = Set(profiles.map(\.name))
            warnings += Profile.builtIn.filter { !profiles.contains($0) }.map {
                "the profile '\($0.name)' in \(configuration.profiles ?? "") replaces the built-in one."
            }
            for (category, profile) in configuration.settings.categories.sorted(by: { $0.key < $1.key })
            where !names.contains(profile) {
                addError(
                    "categories", "\(category)=\(profile)",
                    "there is no profile '\(profile)'" + NearestName.hint(for: profile, in: names.sorted()))
            }
        } catch {
            // A missing file was reported above.
            if let path = configuration.profiles, FileManager.default.isReadableFile(atPath: path) {
                addError("profiles", path, (error as? CommandFailure)?.sentence ?? "\(error)")
            }
        }
    }
}
