import CBuild
// Only its data is used, by Foundation.
import CICUData

/// The version of this program.
enum BuildVersion {
    /// The release, as CHANGELOG.md names it.
    static let release = "0.1.0"

    /// The commit that `make` built; nil if the build has no commit.
    static let commit = String(cString: billow_build_commit()).isEmpty ? nil : String(cString: billow_build_commit())

    /// The text that `--version` prints.
    static let text = described(release: release, commit: commit)

    static func described(release: String, commit: String?) -> String {
        commit.map { "\(release) (\($0))" } ?? release
    }
}
