import Foundation
import Turbulence
import Yams

/// Walks a YAML tree and takes settings out of it. Every problem is noted with its path, and the walk goes on, so that all
/// of them can be named together; a key that nobody asked for is a problem too.
final class SettingsReader {
    private(set) var problems: [String] = []
    private let environment: [String: String]

    init(environment: [String: String]) { self.environment = environment }

    func problem(_ path: String, _ sentence: String) { problems.append("\(path) \(sentence)") }

    /// A mapping in the tree, and which of its keys were asked for.
    final class Section {
        let path: String
        fileprivate let mapping: Node.Mapping?
        fileprivate var asked: Set<String> = []
        fileprivate let reader: SettingsReader

        fileprivate init(path: String, mapping: Node.Mapping?, reader: SettingsReader) {
            self.path = path
            self.mapping = mapping
            self.reader = reader
        }

        /// Whether the file gives this setting, readable or not.
        func has(_ key: String) -> Bool { node(key) != nil }

        func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

        fileprivate func node(_ key: String) -> Node? {
            asked.insert(key)
            guard let node = mapping?[key], !node.isNull else { return nil }
            return node
        }

        /// A value as text, from the environment (`BILLOW_SERVER_PORT` for server.port) or else the file.
        func text(_ key: String) -> String? {
            let path = path(of: key)
            let variable = "BILLOW_" + SettingsReader.upperSnake(path)
            if reader.allowsVariables(path), let value = reader.environment[variable] {
                _ = node(key)
                return value
            }
            guard let node = node(key) else { return nil }
            guard let scalar = node.scalar else {
                reader.problem(path, "must be a single value")
                return nil
            }
            return reader.expanded(scalar.string, path: path)
        }

        /// A value that `parse` reads; `expected` follows "must be".
        func value<Value>(_ key: String, expected: String, secret: Bool = false, _ parse: (String) -> Value?) -> Value?
        {
            guard let text = text(key) else { return nil }
            guard let value = parse(text) else {
                reader.problem(
                    path(of: key),
                    (secret ? "" : "is '\(SettingsReader.withoutPassword(text))'; it ") + "must be \(expected)")
                return nil
            }
            return value
        }

        func section(_ key: String) -> Section {
            let node = node(key)
            if let node, node.mapping == nil { reader.problem(path(of: key), "must hold settings of its own") }
            return Section(path: path(of: key), mapping: node?.mapping, reader: reader)
        }

        func sections(_ key: String) -> [Section] {
            guard let node = node(key) else { return [] }
            guard let sequence = node.sequence else {
                reader.problem(path(of: key), "must be a list")
                return []
            }
            return sequence.enumerated().compactMap { index, element in
                let path = "\(path(of: key))[\(index)]"
                guard let mapping = element.mapping else {
                    reader.problem(path, "must hold settings of its own")
                    return nil
                }
                return Section(path: path, mapping: mapping, reader: reader)
            }
        }

        /// A list of values.
        func list<Value>(_ key: String, expected: String, _ parse: (String) -> Value?) -> [Value]? {
            guard let node = node(key) else { return nil }
            guard let sequence = node.sequence else {
                reader.problem(path(of: key), "must be a list of \(expected)")
                return nil
            }
            return sequence.enumerated().compactMap { index, element in
                let path = "\(path(of: key))[\(index)]"
                guard let scalar = element.scalar else {
                    reader.problem(path, "must be \(expected)")
                    return nil
                }
                guard let text = reader.expanded(scalar.string, path: path) else { return nil }
                guard let value = parse(text) else {
                    reader.problem(path, "is '\(text)'; it must be \(expected)")
                    return nil
                }
                return value
            }
        }

        /// A closed ring of longitude, latitude pairs.
        func ring(_ key: String) -> [(Double, Double)]? {
            guard let node = node(key) else { return nil }
            let pairs = node.sequence?.map { $0.sequence?.compactMap { $0.scalar.flatMap { Double($0.string) } } ?? [] }
            guard let pairs, pairs.allSatisfy({ $0.count == 2 }) else {
                reader.problem(path(of: key), "must be a list of [longitude, latitude] pairs")
                return nil
            }
            return pairs.map { ($0[0], $0[1]) }
        }

        /// Names the keys that nobody asked for. Call it when all have been.
        func finish() {
            for (key, _) in mapping ?? Node.Mapping([]) {
                guard let name = key.string, !asked.contains(name) else { continue }
                reader.problem(
                    path(of: name), "is not a setting; known here: \(asked.sorted().joined(separator: ", "))")
            }
        }
    }

    /// The tree of a file's text; nil and a problem where it is no YAML.
    func root(yaml: String?, file: String) -> Section {
        guard let yaml else { return Section(path: "", mapping: nil, reader: self) }
        do {
            let node = try Yams.compose(yaml: yaml)
            if let node, !node.isNull, node.mapping == nil { problem(file, "must hold settings by name") }
            return Section(path: "", mapping: node?.mapping, reader: self)
        } catch {
            problem(file, "is not YAML: \(Self.describe(error))")
            return Section(path: "", mapping: nil, reader: self)
        }
    }

    /// What is wrong and where, without the line itself: it may hold a key.
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

    /// An address without the name and password that may stand in it.
    private static func withoutPassword(_ text: String) -> String {
        guard let start = text.range(of: "://")?.upperBound, let end = text[start...].lastIndex(of: "@") else {
            return text
        }
        return text[..<start] + "…" + text[end...]
    }

    /// Lists have no names in the environment.
    fileprivate func allowsVariables(_ path: String) -> Bool { !path.contains("[") }

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

    /// Replaces each `${NAME}` by the environment's value.
    fileprivate func expanded(_ text: String, path: String) -> String? {
        var result = ""
        var rest = text[...]
        while let open = rest.range(of: "${") {
            result += rest[..<open.lowerBound]
            guard let close = rest[open.upperBound...].firstIndex(of: "}") else {
                problem(path, "has '${' without '}'")
                return nil
            }
            let name = String(rest[open.upperBound..<close])
            guard let value = environment[name] else {
                problem(path, "names the environment variable \(name), which is not set")
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
}
