import BillowTimeline
import Foundation
import Turbulence
import Yams

/// Reads settings from flags, the environment and a YAML tree, in this order of precedence. It records every problem
/// with path and place and continues, so that all are reported together. Unknown keys and variables are problems too.
final class SettingsReader {
    /// A flag that overrides a setting.
    struct Flag {
        var name: String
        var text: String
    }

    private(set) var problems: [SettingsProblem] = []
    private let flags: [String: Flag]
    private let environment: [String: String]
    private var variables: Set<String> = []

    /// - Parameter flags: the flags, by the path of their setting.
    init(flags: [String: Flag] = [:], environment: [String: String]) {
        self.flags = flags
        self.environment = environment
    }

    func problem(
        _ path: String, at place: SettingOrigin? = nil, _ text: String, kind: Failure.Kind = .usage,
        knownSettings: [String] = []
    ) {
        let problem = SettingsProblem(
            path: path, place: place, text: text, kind: kind, knownSettings: knownSettings)
        // A setting that is read twice is reported once.
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// Reports unknown variables without their values, which may be keys. Call it after all settings have been read.
    func finishEnvironment() {
        for (name, nearest) in SettingsEnvironment.unknown(in: environment, known: variables) {
            problem(name, "is not the variable of a setting" + (nearest.map { "; the nearest is \($0)" } ?? ""))
        }
    }

    /// A mapping in the tree, and the keys that have been read.
    final class Section {
        let path: String
        private let line: Int?
        private let mapping: Node.Mapping?
        private var requested: Set<String> = []
        private let reader: SettingsReader

        fileprivate init(path: String, node: Node?, reader: SettingsReader) {
            self.path = path
            line = node?.mark?.line
            mapping = node?.mapping
            self.reader = reader
        }

        /// Whether a setting is given, valid or not.
        func has(_ key: String) -> Bool { place(of: key) != nil }

        private func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

        private func node(_ key: String) -> Node? {
            requested.insert(key)
            guard let node = mapping?[key], !node.isNull else { return nil }
            return node
        }

        /// The flag and the environment variable that give a setting, if any.
        private func outside(_ key: String) -> [(text: String, place: SettingOrigin)] {
            let path = path(of: key)
            // Elements of lists have no environment variables.
            guard !path.contains("[") else { return [] }
            let variable = SettingsEnvironment.variable(path)
            reader.variables.insert(variable)
            let flag = reader.flags[path].map { (text: $0.text, place: SettingOrigin.flag($0.name)) }
            let value = reader.environment[variable].map { (text: $0, place: SettingOrigin.variable(variable)) }
            return [flag, value].compactMap { $0 }
        }

        /// The variable with the default, which all other places override.
        private func otherwise(_ key: String) -> (text: String, place: SettingOrigin)? {
            let variable = SettingsEnvironment.defaultVariable(path(of: key))
            return reader.environment[variable].map { ($0, .variable(variable)) }
        }

        /// The place of the effective value; nil if the setting isn't given.
        private func place(of key: String) -> SettingOrigin? {
            let node = node(key)
            return outside(key).first?.place ?? node.flatMap { $0.mark.map { .line($0.line) } } ?? otherwise(key)?.place
        }

        /// The texts of all settings of the section in the file, by path, but those below some keys.
        func texts(except keys: Set<String> = []) -> [String: String] {
            var texts: [String: String] = [:]
            for (key, node) in mapping ?? Node.Mapping([]) {
                guard let name = key.string, !keys.contains(name) else { continue }
                if node.mapping != nil {
                    texts.merge(Section(path: path(of: name), node: node, reader: reader).texts()) { $1 }
                } else if !node.isNull {
                    texts[path(of: name)] = Self.text(node)
                }
            }
            return texts
        }

        private static func text(_ node: Node) -> String {
            if let sequence = node.sequence { return "[\(sequence.map(text).joined(separator: ", "))]" }
            guard let mapping = node.mapping else { return node.string ?? "" }
            return "{\(mapping.map { "\(text($0)): \(text($1))" }.joined(separator: ", "))}"
        }

        // MARK: Problems

        /// Records a problem of a setting, or of the file that it names.
        func problem(_ key: String, _ text: String, kind: Failure.Kind = .usage) {
            reader.problem(path(of: key), at: place(of: key) ?? line.map { .line($0) }, text, kind: kind)
        }

        /// Records a problem of the whole section.
        func problem(_ text: String) { reader.problem(path, at: line.map { .line($0) }, text) }

        /// Records a problem if a required setting is missing.
        func require(_ key: String) {
            if !has(key) { problem(key, "is missing") }
        }

        /// Whether the section has any problem so far.
        var hasProblems: Bool { reader.problems.contains { $0.path == path || $0.path.hasPrefix("\(path).") } }

        // MARK: Values

        /// A value that `parse` accepts; `expected` follows "must be". If it is given in several places, all of them
        /// must be valid.
        func value<Value>(_ key: String, expected: String, secret: Bool = false, _ parse: (String) -> Value?) -> Value?
        {
            var given = outside(key)
            if let node = node(key) { given += scalar(node, path(of: key)).map { [$0] } ?? [] }
            if let otherwise = otherwise(key) { given.append(otherwise) }
            let values = given.map { text, place in
                let value = parse(text)
                if value == nil {
                    let shown = secret ? "" : "is '\(SettingsReader.withoutPassword(text))'; it "
                    reader.problem(path(of: key), at: place, "\(shown)must be \(expected)")
                }
                return value
            }
            return values.first ?? nil
        }

        /// A text that isn't empty.
        func text(_ key: String, expected: String) -> String? {
            value(key, expected: expected) { $0.isEmpty ? nil : $0 }
        }

        func flag(_ key: String) -> Bool? { value(key, expected: "true or false") { Bool($0) } }

        func integer(_ key: String, in range: ClosedRange<Int>, unit: String = "a whole number") -> Int? {
            value(key, expected: "\(unit) from \(range.lowerBound) to \(range.upperBound)") {
                Int($0).flatMap { range.contains($0) ? $0 : nil }
            }
        }

        /// An ISO 8601 duration in seconds.
        func duration(_ key: String, from least: Int, to most: Int? = nil, expected: String) -> Int? {
            value(key, expected: "an ISO 8601 duration \(expected)") {
                ISODuration.seconds($0).flatMap { $0 >= least && $0 <= most ?? .max ? $0 : nil }
            }
        }

        private func scalar(_ node: Node, _ path: String) -> (text: String, place: SettingOrigin)? {
            let place = SettingOrigin.line(node.mark?.line ?? 0)
            guard let scalar = node.scalar else {
                reader.problem(path, at: place, "must be a single value")
                return nil
            }
            return reader.expanded(scalar.string, path: path, place: place).map { ($0, place) }
        }

        /// The values of environment variables that a command of the shell may repeat, and that no message may have.
        func secrets(ofCommand key: String) -> Set<String> {
            let texts = outside(key).map(\.text) + [node(key)?.scalar?.string].compactMap(\.self)
            return SettingsEnvironment.secrets(of: texts, in: reader.environment)
        }

        // MARK: Sections and lists

        func section(_ key: String) -> Section {
            let node = node(key)
            if let node, node.mapping == nil { problem(key, "must hold settings of its own") }
            return Section(path: path(of: key), node: node, reader: reader)
        }

        func sections(_ key: String) -> [Section] {
            (elements(key, expected: "") ?? []).compactMap { path, element in
                guard element.mapping != nil else {
                    reader.problem(path, at: element.place, "must hold settings of its own")
                    return nil
                }
                return Section(path: path, node: element, reader: reader)
            }
        }

        /// A list of values. A variable has them with commas between.
        func list<Value>(_ key: String, expected: String, _ parse: (String) -> Value?) -> [Value]? {
            func element(_ text: String, path: String, at place: SettingOrigin?) -> Value? {
                let value = parse(text)
                if value == nil { reader.problem(path, at: place, "is '\(text)'; it must be \(expected)") }
                return value
            }
            func separated(_ given: (text: String, place: SettingOrigin)) -> [Value] {
                given.text.split(separator: ",").compactMap { part in
                    element(part.trimmingCharacters(in: .whitespaces), path: path(of: key), at: given.place)
                }
            }
            let outside = outside(key).map(separated)
            let listed = elements(key, expected: " of \(expected)")?.compactMap { path, node in
                scalar(node, path).flatMap { element($0.text, path: path, at: node.place) }
            }
            let otherwise = otherwise(key).map(separated)
            return outside.first ?? listed ?? otherwise
        }

        /// The elements of a list; nil if there is none.
        private func elements(_ key: String, expected: String) -> [(path: String, element: Node)]? {
            guard let node = node(key) else { return nil }
            guard let sequence = node.sequence else {
                problem(key, "must be a list\(expected)")
                return nil
            }
            return sequence.enumerated().map { ("\(path(of: key))[\($0)]", $1) }
        }

        /// A closed ring of longitude, latitude pairs.
        func ring(_ key: String) -> [(Double, Double)]? {
            guard let node = node(key) else { return nil }
            let pairs = node.sequence?.map { $0.sequence?.compactMap { $0.scalar.flatMap { Double($0.string) } } ?? [] }
            guard let pairs, pairs.allSatisfy({ $0.count == 2 }) else {
                problem(key, "must be a list of [longitude, latitude] pairs")
                return nil
            }
            return pairs.map { ($0[0], $0[1]) }
        }

        /// Reports unknown keys. Call it after all known ones have been read.
        func finish() {
            for (key, _) in mapping ?? Node.Mapping([]) {
                guard let name = key.string else {
                    reader.problem(path.isEmpty ? "the file" : path, at: key.place, "has a key that is not a name")
                    continue
                }
                guard !requested.contains(name) else { continue }
                let known = requested.sorted()
                reader.problem(
                    path(of: name), at: key.place,
                    "is not a setting; known settings here: \(known.joined(separator: ", "))", knownSettings: known)
            }
        }
    }

    // MARK: - The file

    /// Parses a file's text; an empty tree, with a problem, if it is not valid YAML.
    func root(yaml: String?, file: String) -> Section {
        var root: Node?
        if let yaml {
            do {
                root = try Yams.compose(yaml: yaml)
                if let root, !root.isNull, root.mapping == nil { problem(file, "must hold settings by name") }
            } catch { problem(file, "is not YAML: \(Self.describe(error))") }
        }
        return Section(path: "", node: root, reader: self)
    }

    /// The error and its position, without the line's text, which may contain a key.
    private static func describe(_ error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(problem) in line \(mark.line), column \(mark.column)"
        case .reader(let problem, let offset, _, _):
            offset.map { "\(problem) at character \($0)" } ?? problem
        case .duplicatedKeysInMapping(let keys, let context):
            "\(keys.sorted().map { "'\($0)'" }.joined(separator: ", ")) stands twice in one mapping, in line "
                + "\(context.mark.line)"
        default: "it can't be read"
        }
    }

    /// A URL without its user name and password.
    private static func withoutPassword(_ text: String) -> String {
        guard let start = text.range(of: "://")?.upperBound, let end = text[start...].lastIndex(of: "@") else {
            return text
        }
        return text[..<start] + "…" + text[end...]
    }

    /// Replaces each `${NAME}` by the environment variable's value.
    private func expanded(_ text: String, path: String, place: SettingOrigin) -> String? {
        var result = ""
        var rest = text[...]
        while let open = rest.range(of: "${") {
            result += rest[..<open.lowerBound]
            guard let close = rest[open.upperBound...].firstIndex(of: "}") else {
                problem(path, at: place, "has '${' without '}'")
                return nil
            }
            let name = String(rest[open.upperBound..<close])
            guard let value = environment[name] else {
                problem(path, at: place, "names the environment variable \(name), which is not set")
                return nil
            }
            result += value
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}

extension Node {
    fileprivate var isNull: Bool {
        scalar.map { ["", "null", "~", "Null", "NULL"].contains($0.string) && $0.style == .plain } ?? false
    }

    fileprivate var place: SettingOrigin? { mark.map { .line($0.line) } }
}
