import ArgumentParser
import SatchelCore
import Foundation

/// The option for a file of additional profiles.
struct ProfileFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "YAML file of profiles to add to the built-in ones. Default: $SATCHEL_PROFILES.", valueName: "file"),
        completion: .yaml)
    var profiles: String?

    /// The built-in profiles and those of the file. A profile of the file replaces a built-in one with its name.
    func all() throws -> [Profile] {
        try Self.all(in: profiles ?? Self.standardFile)
    }

    static var standardFile: String? { ProcessInfo.processInfo.environment["SATCHEL_PROFILES"] }

    /// The built-in profiles and those of a file, if one is given.
    static func all(in path: String?) throws -> [Profile] {
        guard let path, !path.isEmpty else { return Profile.builtIn }
        do {
            let own = try ProfileFile(path: path).profiles
            let names = Set(own.map(\.name))
            return Profile.builtIn.filter { !names.contains($0.name) } + own
        } catch let error as ProfileFileError {
            throw CommandFailure(error.description, status: .usage)
        }
    }

    func named(_ name: String) throws -> Profile {
        let all = try all()
        guard let profile = all.first(where: { $0.name == name }) else {
            let names = all.map(\.name)
            throw CommandFailure(
                "there is no profile '\(name)'\(NearestName.hint(for: name, in: names)). "
                    + "Available: \(names.joined(separator: ", ")).",
                status: .usage)
        }
        return profile
    }

    /// Warns if a profile of the file replaces a built-in one.
    func warn(of profile: Profile) {
        guard let builtIn = Profile.builtIn.first(where: { $0.name == profile.name }), builtIn != profile else {
            return
        }
        Console.printError(Self.warning(of: profile, in: profiles ?? Self.standardFile ?? ""))
    }

    static func warning(of profile: Profile, in file: String) -> String {
        "Warning: the profile '\(profile.name)' in \(file) replaces the built-in one."
    }
}

/// Options for the profile to apply.
struct ProfileOptions: ParsableArguments {
    @Option(
        name: [.long, .customShort("p")],
        help: ArgumentHelp("Profile to apply. 'satchel profile list' lists them.", valueName: "name"),
        completion: .profiles)
    var profile = "notification"

    @OptionGroup var file: ProfileFileOptions

    /// - Parameter isQuiet: Suppresses the warning about a replaced built-in profile.
    func chosen(isQuiet: Bool = false) throws -> Profile {
        let chosen = try file.named(profile)
        if !isQuiet { file.warn(of: chosen) }
        return chosen
    }
}
