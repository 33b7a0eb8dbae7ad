import CBuild

/// Which Billow this is.
enum BuildVersion {
    /// The release, as CHANGELOG.md names it.
    static let release = "0.1.0"

    /// The commit that `make` built; nil where the build was told of none.
    static let commit = String(cString: billow_build_commit()).isEmpty ? nil : String(cString: billow_build_commit())

    /// What `--version` prints.
    static let text = described(release: release, commit: commit)

    static func described(release: String, commit: String?) -> String {
        commit.map { "\(release) (\($0))" } ?? release
    }
}
