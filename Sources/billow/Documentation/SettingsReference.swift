import BillowSync

/// The reference of all settings: names and ranges from the settings' reader, the rest from the catalogue.
struct SettingsReference {
    /// A setting that the reader knows.
    struct KnownSetting: Hashable {
        let path: String
        /// The kinds of sources that have it, in the order of `sourceKinds`; empty for a setting outside sources.
        var kinds: [String]
        /// Its valid values, in the reader's words.
        var allowed: String

        /// Its environment variable; nil for a setting of a source.
        var variable: String? {
            path.contains("[") ? nil : SettingsEnvironment.variable(path)
        }
    }

    static let sourceKinds = Settings.Source.kinds

    // MARK: Known settings

    /// All settings that the reader knows. It reads unknown keys, and its errors name the known ones. Then it reads an
    /// empty text for each setting, and its errors describe the valid values.
    static func known() -> [KnownSetting] {
        var kinds: [String: [String]] = [:]
        var paths: [String] = []
        for kind in sourceKinds {
            for path in names(kind: kind) {
                if !paths.contains(path) { paths.append(path) }
                if path.hasPrefix("sources[]") { kinds[path, default: []].append(kind) }
            }
        }
        // A section is no setting itself.
        let all = paths
        paths = all.filter { section in
            !all.contains { $0.hasPrefix(section + ".") || $0.hasPrefix(section + "[]") }
        }
        var allowed: [String: String] = [:]
        for kind in sourceKinds {
            for (path, text) in ranges(of: paths.filter { kinds[$0]?.contains(kind) ?? true }, kind: kind) {
                guard let first = allowed[path] else {
                    allowed[path] = text
                    continue
                }
                // A kind whose range is a part of another's is not listed separately.
                if !first.contains(text) { allowed[path] = "\(first); for `\(kind)` \(text)" }
            }
        }
        return paths.map { KnownSetting(path: $0, kinds: kinds[$0] ?? [], allowed: allowed[$0] ?? "") }
    }

    private static func names(kind: String) -> [String] {
        let inner =
            kind == SkyPathUpstream.kind ? ", query: {zzz: 1, scope: {zzz: 1}}, limits: {zzz: 1}, wire: {zzz: 1}" : ""
        let yaml = """
            zzz: 1
            server: {zzz: 1, timeouts: {zzz: 1}, tls: {zzz: 1}, rateLimit: {zzz: 1}}
            severityThresholds: {zzz: 1}
            polygons: {zzz: 1}
            backups: {zzz: 1}
            tracing: {zzz: 1}
            frequencies: {zzz: 1}
            exports: {zzz: 1}
            timeline: {zzz: 1, update: {zzz: 1}}
            sources: [{kind: \(kind), zzz: 1\(inner)}]
            """
        return problems(yaml).flatMap { problem in
            let prefix = "\(problem.path.dropLast(3))".replacing("sources[0]", with: "sources[]")
            return problem.knownSettings.map { prefix + $0 }
        }
    }

    private static func ranges(of paths: [String], kind: String) -> [String: String] {
        var tree = SettingsTree()
        for path in paths where path != "sources[].kind" { tree.set(path, "\"\"") }
        tree.set("sources[].kind", kind)
        var unknownKind = SettingsTree()
        unknownKind.set("sources[].kind", "\"\"")
        return (problems(tree.yaml) + problems(unknownKind.yaml)).reduce(into: [:]) { ranges, problem in
            guard let match = problem.text.wholeMatch(of: /(?:is ''; it )?must be (.+)/) else { return }
            let path = problem.path.replacing("sources[0]", with: "sources[]")
            if ranges[path] == nil { ranges[path] = String(match.1) }
        }
    }

    private static func problems(_ yaml: String) -> [SettingsProblem] {
        do {
            _ = try Settings.read(yaml: yaml, file: "", environment: [:], overrides: SettingsOverrides())
            return []
        } catch {
            return error.problems
        }
    }

    // MARK: The page

    /// A table for each group.
    static func markdown() -> String {
        let known = Dictionary(known().map { ($0.path, $0) }) { first, _ in first }
        return SettingsCatalogue.groups.map { group in
            let isOfSources = group.settings.contains { $0.path.hasPrefix("sources[]") }
            let rows = group.settings.map { setting in
                let known = known[setting.path]
                let given = [setting.flag, known?.variable].compactMap { $0.map { "`\($0)`" } }
                let kinds = known?.kinds ?? []
                let origin =
                    isOfSources
                    ? (kinds == sourceKinds ? "all" : kinds.map { "`\($0)`" }.joined(separator: ", "))
                    : given.joined(separator: ", ")
                return Markdown.row([
                    "`\(setting.path)`", origin.isEmpty ? "–" : origin, setting.standard.markdown,
                    known?.allowed ?? "", setting.meaning,
                ])
            }
            let head = Markdown.head([
                "setting", isOfSources ? "kinds" : "flag, environment", "default", "value", "meaning",
            ])
            return "### \(group.title)\n\n\(head)\(rows.joined())"
        }.joined(separator: "\n")
    }
}

extension SettingDescription.Default {
    fileprivate var markdown: String {
        switch self {
        case .none: "–"
        case .required: "required"
        case .value(let text): "`\(text)`"
        case .words(let text): text
        }
    }
}

/// Builds YAML from settings by path.
struct SettingsTree {
    private var values: [String: String] = [:]
    private var children: [String: SettingsTree] = [:]

    /// - Parameter value: in YAML syntax.
    mutating func set(_ path: String, _ value: String) { set(path.split(separator: ".").map(String.init)[...], value) }

    private mutating func set(_ path: ArraySlice<String>, _ value: String) {
        guard let name = path.first else { return }
        if path.count == 1 {
            values[name] = value
        } else {
            children[name, default: SettingsTree()].set(path.dropFirst(), value)
        }
    }

    var yaml: String {
        let own = values.map { "\($0.key): \($0.value)" }
        let nested = children.map { name, tree in
            name.hasSuffix("[]") ? "\(name.dropLast(2)): [\(tree.yaml)]" : "\(name): \(tree.yaml)"
        }
        return "{\((own + nested).sorted().joined(separator: ", "))}"
    }
}
