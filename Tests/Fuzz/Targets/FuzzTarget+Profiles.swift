import SatchelCore
import FoundationEssentials

@testable import satchel

extension FuzzTarget {
    /// Profiles, as files of YAML and as JSON that was stored: one that is taken is written so that it reads the same.
    static let profiles = FuzzTarget("profiles") { bytes in
        if let profile = try? JSON.decode(Profile.self, from: Data(bytes)) {
            guard let text = try? JSON.encode(profile) else { return }
            precondition((try? JSON.decode(Profile.self, from: text)) == profile, "as JSON it reads otherwise")
        }
        guard let text = String(validating: bytes, as: UTF8.self),
            let file = try? ProfileFile(yaml: text, path: "profiles.yaml")
        else { return }
        for profile in file.profiles {
            let again = try? ProfileFile(yaml: ProfileFile.yaml(of: profile), path: "again.yaml")
            precondition(again?.profiles == [profile], "as YAML it reads otherwise")
        }
    }
}
