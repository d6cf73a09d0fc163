import ArgumentParser
import SatchelCore
import Foundation

/// Which profiles there are.
struct ProfileFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file of profiles that add to the built-in ones. Default: $SATCHEL_PROFILES.", valueName: "file"),
        completion: .yaml)
    var profiles: String?

    /// The built-in profiles and those of the file, which win by name.
    func all() throws -> [Profile] {
        try Self.all(in: profiles ?? Self.standardFile)
    }

    static var standardFile: String? { ProcessInfo.processInfo.environment["SATCHEL_PROFILES"] }

    /// The built-in profiles and those of a file, where one is named.
    static func all(in path: String?) throws -> [Profile] {
        guard let path, !path.isEmpty else { return Profile.builtIn }
        do {
            let own = try ProfileFile(path: path).profiles
            let names = Set(own.map(\.name))
            return Profile.builtIn.filter { !names.contains($0.name) } + own
        } catch let error as ProfileFileError {
            throw CommandFailure(error.description, status: 2)
        }
    }

    func named(_ name: String) throws -> Profile {
        let all = try all()
        guard let profile = all.first(where: { $0.name == name }) else {
            let names = all.map(\.name)
            throw CommandFailure(
                "there is no profile '\(name)'; there are \(names.joined(separator: ", "))"
                    + "\(NearestName.hint(for: name, in: names)).",
                status: 2)
        }
        return profile
    }

    /// Says of a profile that takes the place of a built-in one that it does.
    func warn(of profile: Profile) {
        guard let builtIn = Profile.builtIn.first(where: { $0.name == profile.name }), builtIn != profile else {
            return
        }
        Console.printError(Self.warning(of: profile, in: profiles ?? Self.standardFile ?? ""))
    }

    static func warning(of profile: Profile, in file: String) -> String {
        "Warning: the profile '\(profile.name)' is that of \(file), which replaces the built-in one."
    }
}

/// Which profile is used.
struct ProfileOptions: ParsableArguments {
    @Option(
        name: [.long, .customShort("p")],
        help: ArgumentHelp("What to make: see 'satchel profile list'.", valueName: "name"), completion: .profiles)
    var profile = "notification"

    @OptionGroup var file: ProfileFileOptions

    /// - Parameter isQuiet: Whether nothing is said of a profile that replaces a built-in one.
    func chosen(isQuiet: Bool = false) throws -> Profile {
        let chosen = try file.named(profile)
        if !isQuiet { file.warn(of: chosen) }
        return chosen
    }
}
