/// An invalid setting.
struct SettingsProblem: Sendable, Hashable, CustomStringConvertible {
    /// The path of the setting; for other problems the file or the variable.
    var path: String
    var place: SettingOrigin?
    /// The rest of the sentence after the path.
    var text: String
    /// Determines the command's exit status, unless another problem is worse.
    var kind = Failure.Kind.usage
    /// For an unknown setting the settings that its section knows; empty for other problems.
    var knownSettings: [String] = []

    var description: String { "\(path)\(place.map { " (\($0))" } ?? "") \(text)" }
}

/// The place where a setting was given.
enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case flag(String)
    case variable(String)
    /// A line of the file, from 1.
    case line(Int)

    var description: String {
        switch self {
        case .flag(let name), .variable(let name): name
        case .line(let number): "line \(number)"
        }
    }
}

/// All problems of the settings.
struct SettingsError: Error, CustomStringConvertible {
    var problems: [SettingsProblem]

    /// Invalid settings take precedence over missing files.
    var kind: Failure.Kind {
        problems.contains { $0.kind == .usage } ? .usage : problems.first?.kind ?? .usage
    }

    var description: String {
        guard problems.count > 1 else {
            return "the settings can't be used: \(problems.map(\.description).joined())"
        }
        return "the settings can't be used, for \(problems.count) reasons:\n"
            + problems.map { "  - \($0)" }.joined(separator: "\n")
    }
}
