/// The environment variables of settings: `BILLOW_SERVER_PORT` is `server.port`.
enum SettingsEnvironment {
    static let prefix = "BILLOW_"

    private static let defaultPrefix = prefix + "DEFAULT_"

    /// The variable of a setting.
    static func variable(_ path: String) -> String { prefix + upperSnake(path) }

    /// The variable of a setting's default, for container images; a settings file overrides it.
    static func defaultVariable(_ path: String) -> String { defaultPrefix + upperSnake(path) }

    /// `server.publicURL` → `SERVER_PUBLIC_URL`.
    static func upperSnake(_ path: String) -> String {
        var result = ""
        var previous: Character = "_"
        for character in path {
            if character == "." {
                result.append("_")
            } else {
                if character.isUppercase, previous.isLowercase || previous.isNumber { result.append("_") }
                result.append(character.uppercased())
            }
            previous = character
        }
        return result
    }

    /// Unknown variables with Billow's prefix, each with the nearest known variable; nil if none is near.
    ///
    /// - Parameter known: the variables of all settings.
    static func unknown(in environment: [String: String], known: Set<String>) -> [(name: String, nearest: String?)] {
        environment.filter { name, value in
            name.hasPrefix(prefix) && !known.contains(name) && !isDefault(name, known) && !ofTests.contains(name)
                && !isOfService(name, value)
        }.keys.sorted().map { name in
            let near = known.map { (name: $0, distance: distance($0, name)) }.min {
                ($0.distance, $0.name) < ($1.distance, $1.name)
            }
            if let near, near.distance <= name.count / 3 { return (name, near.name) }
            // For example, BILLOW_PORT is the end of the intended name.
            return (name, known.filter { $0.hasSuffix("_" + name.dropFirst(prefix.count)) }.min())
        }
    }

    /// Parts of the names of variables that hold secrets.
    private static let secretWords = ["KEY", "TOKEN", "SECRET", "PASS"]
    /// Variables that hold no secret, although a command names them.
    private static let ordinary: Set = [
        "HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER", "BACKUP_FILE", "BACKUP_FOLDER",
    ]
    /// Shorter values would occur in many sentences.
    private static let shortestSecret = 4

    /// The values that a command may repeat although they are secret: those of variables that its text names as
    /// `$NAME` or `${NAME}`, and those of variables whose names speak of a key, a token, a secret or a password.
    static func secrets(of commands: [String], in environment: [String: String]) -> Set<String> {
        let named = Set(
            commands.flatMap { $0.matches(of: /\$\{?([A-Za-z_][A-Za-z0-9_]*)/).map { String($0.1) } })
        let values = environment.filter { name, value in
            guard value.count >= shortestSecret, !ordinary.contains(name) else { return false }
            return named.contains(name) || secretWords.contains { name.uppercased().contains($0) }
        }.values
        return Set(values)
    }

    private static func isDefault(_ name: String, _ known: Set<String>) -> Bool {
        name.hasPrefix(defaultPrefix) && known.contains(prefix + name.dropFirst(defaultPrefix.count))
    }

    /// Variables of this project's tests and benchmarks.
    private static let ofTests: Set = [
        "BILLOW_KILLS", "BILLOW_KILL_SEED", "BILLOW_MEASURE", "BILLOW_ORACLE_TILES", "BILLOW_PACKING_VICTIM",
        "BILLOW_RETENTION_VICTIM", "BILLOW_STORE_VICTIM", "BILLOW_SYNC_VICTIM", "BILLOW_WRITE_DOCS",
    ]

    /// Whether a variable describes a Kubernetes service named `billow`: `BILLOW_SERVICE_HOST`, or `BILLOW_PORT` with a
    /// URL.
    ///
    /// Source: Kubernetes documentation, "Accessing the Service", environment variables
    private static func isOfService(_ name: String, _ value: String) -> Bool {
        name.hasPrefix("BILLOW_SERVICE_") || name.hasPrefix("BILLOW_PORT_")
            || name == "BILLOW_PORT" && value.contains("://")
    }

    /// The number of insertions, deletions, substitutions and transpositions that turn one text into the other.
    ///
    /// Source: optimal string alignment; F. Damerau, CACM 7 (1964)
    static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
                row.append(least)
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
