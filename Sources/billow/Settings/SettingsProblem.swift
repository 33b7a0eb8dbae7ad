/// A setting that can't be used.
struct SettingsProblem: Sendable, Hashable, CustomStringConvertible {
    /// The setting; of what is none, the file or the variable.
    var path: String
    var place: SettingsPlace?
    /// What follows the path in a sentence.
    var text: String
    /// By what the command's exit status goes where there is nothing worse.
    var kind = Failure.Kind.usage

    var description: String { "\(path)\(place.map { " (\($0))" } ?? "") \(text)" }
}

/// Where a setting was given.
enum SettingsPlace: Sendable, Hashable, CustomStringConvertible {
    case flag(String)
    case variable(String)
    /// Of the file, counted from 1.
    case line(Int)

    var description: String {
        switch self {
        case .flag(let name), .variable(let name): name
        case .line(let number): "line \(number)"
        }
    }
}

/// Settings that can't be used: all that is wrong with them.
struct SettingsError: Error, CustomStringConvertible {
    var problems: [SettingsProblem]

    /// Wrong settings before files that aren't there.
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
