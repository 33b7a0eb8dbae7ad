import Foundation
import Turbulence
import JSONKit

/// A problem in a style file.
public struct StyleProblem: Sendable, Hashable, CustomStringConvertible {
    /// The file's name, without its folder.
    public let file: String
    /// The path of keys, joined by dots: `severities.light.opacity`; empty for a problem of the whole file.
    public let key: String
    /// The value found, as JSON text, shortened; or `missing`.
    public let value: String
    /// The allowed values.
    public let allowed: String

    public var description: String {
        "\(file): \(key.isEmpty ? "the file" : key) is \(value); allowed: \(allowed)"
    }
}

/// Parses one style file. It collects every problem instead of stopping at the first.
struct StyleFile {
    /// The file's name, without its folder.
    let name: String
    private(set) var problems: [StyleProblem] = []

    private static let longestTitle = 80
    private static let longestDescription = 400

    init(name: String) { self.name = name }

    /// The style, or nil if there are problems.
    mutating func read(_ data: Data) -> Style? {
        let root: JSONValue
        do { root = try JSONDecoder().decode(JSONValue.self, from: data) } catch {
            report("", "not JSON: \(StyleFile.reason(error))", allowed: "a JSON object")
            return nil
        }
        let members = object(
            root, at: "", required: ["id", "title", "description", "theme", "severities"], optional: ["marks", "field"])
        let id = members["id"].flatMap { identifier($0) }
        let title = members["title"].flatMap { string($0, at: "title", longest: StyleFile.longestTitle) }
        let description = members["description"].flatMap {
            string($0, at: "description", longest: StyleFile.longestDescription)
        }
        let theme = members["theme"].flatMap { knownTheme($0) }
        let paints = members["severities"].map { severities($0) } ?? []
        let marks = members["marks"].map { self.marks($0, theme: theme ?? .light) }
        let field = members["field"].flatMap { self.field($0) } ?? .standard
        guard problems.isEmpty, let id, let title, let description, let theme else { return nil }
        return Style(
            id: id, title: title, description: description, theme: theme, paints: paints, marks: marks, field: field)
    }

    /// The parser's message with its position, without the surrounding types.
    private static func reason(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return error.localizedDescription }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }

    private mutating func identifier(_ value: JSONValue) -> String? {
        let expected = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        guard case .string(let id) = value, id == expected, !id.isEmpty, id.allSatisfy(letters.contains) else {
            report("id", value.text, allowed: "the file's name without .json, of a–z, 0–9 and hyphens")
            return nil
        }
        return id
    }

    private mutating func string(_ value: JSONValue, at key: String, longest: Int) -> String? {
        guard case .string(let text) = value, (1...longest).contains(text.count) else {
            report(key, value.text, allowed: "a string of 1 to \(longest) characters")
            return nil
        }
        return text
    }

    private mutating func knownTheme(_ value: JSONValue) -> Theme? {
        guard case .string(let text) = value, let theme = Theme(rawValue: text) else {
            report("theme", value.text, allowed: Theme.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or "))
            return nil
        }
        return theme
    }

    /// The paints, smooth first; fewer than the severities if there are problems.
    private mutating func severities(_ value: JSONValue) -> [SeverityPaint] {
        let members = object(value, at: "severities", required: Severity.allCases.map(\.name))
        var paints: [SeverityPaint] = []
        for severity in Severity.allCases {
            guard let member = members[severity.name] else { continue }
            let key = "severities.\(severity.name)"
            guard let paint = severityPaint(member, at: key) else { continue }
            // Two severities that look alike would be misleading.
            if paints.contains(paint) {
                report(key, member.text, allowed: "a fill and border that no other severity has")
            }
            paints.append(paint)
        }
        return paints
    }

    private mutating func severityPaint(_ value: JSONValue, at key: String) -> SeverityPaint? {
        let members = object(value, at: key, required: ["fill", "opacity"], optional: ["border", "pattern"])
        let fill = paint(members, colourKey: "fill", at: key)
        let border = members["border"].flatMap { value in
            let members = object(value, at: key + ".border", required: ["colour", "opacity"])
            return paint(members, colourKey: "colour", at: key + ".border")
        }
        let pattern = members["pattern"].flatMap { self.pattern($0, at: key + ".pattern") }
        guard let fill else { return nil }
        return SeverityPaint(fill: fill, border: border, pattern: pattern)
    }

    private mutating func pattern(_ value: JSONValue, at key: String) -> SeverityPattern? {
        let members = object(value, at: key, required: ["kind", "colour", "opacity", "spacing", "width"])
        let paint = paint(members, colourKey: "colour", at: key)
        var kind: Pattern.Kind?
        if let value = members["kind"] {
            if case .string(let text) = value { kind = Pattern.Kind(rawValue: text) }
            if kind == nil {
                report(
                    "\(key).kind", value.text, allowed: Pattern.Kind.allCases.map(\.rawValue).joined(separator: ", "))
            }
        }
        let spacing = members["spacing"].flatMap { value -> Int? in
            if case .number(let number) = value, let whole = Int(exactly: number),
                SeverityPattern.spacings.contains(whole)
            {
                return whole
            }
            report(
                "\(key).spacing", value.text,
                allowed: SeverityPattern.spacings.map(String.init).joined(separator: ", ") + " points")
            return nil
        }
        guard let width = members["width"], let spacing, let kind, let paint else { return nil }
        guard case .number(let points) = width,
            let pattern = SeverityPattern(kind: kind, paint: paint, spacing: spacing, width: points)
        else {
            report("\(key).width", width.text, allowed: "a number of points above 0 and below the spacing")
            return nil
        }
        return pattern
    }

    private mutating func marks(_ value: JSONValue, theme: Theme) -> MarkColours {
        var marks = MarkColours.standard(theme)
        let members = object(value, at: "marks", required: [], optional: MarkColours.keys.map(\.name))
        for key in MarkColours.keys {
            if let colour = members[key.name].flatMap({ colour($0, at: "marks.\(key.name)") }) {
                marks[keyPath: key.path] = colour
            }
        }
        return marks
    }

    private mutating func field(_ value: JSONValue) -> FieldPaint? {
        let members = object(value, at: "field", required: [], optional: ["scale", "missing"])
        let isHatched = members["missing"].map { hatches($0) } ?? true
        let stops = members["scale"].map { scale($0) } ?? []
        guard let stops else { return nil }
        guard let paint = FieldPaint(scale: stops, isMissingHatched: isHatched) else {
            report("field.scale", members["scale"]?.text ?? "missing", allowed: "at least two stops, rising by edr")
            return nil
        }
        return paint
    }

    private mutating func hatches(_ value: JSONValue) -> Bool {
        if value == .string("transparent") { return false }
        if value != .string("hatched") {
            report("field.missing", value.text, allowed: "\"hatched\" or \"transparent\"")
        }
        return true
    }

    /// The stops; nil if one of them is invalid.
    private mutating func scale(_ value: JSONValue) -> [FieldPaint.Stop]? {
        guard case .array(let values) = value, (2...20).contains(values.count) else {
            report("field.scale", value.text, allowed: "a list of 2 to 20 stops")
            return nil
        }
        var stops: [FieldPaint.Stop] = []
        for (number, value) in values.enumerated() {
            let key = "field.scale.\(number)"
            let members = object(value, at: key, required: ["edr", "fill", "opacity"])
            guard let edr = members["edr"], let paint = paint(members, colourKey: "fill", at: key) else { continue }
            guard case .number(let number) = edr, let stop = FieldPaint.Stop(edr: number, paint) else {
                report("\(key).edr", edr.text, allowed: "an EDR of 0 to 2 m^(2/3)/s")
                continue
            }
            stops.append(stop)
        }
        return stops.count == values.count ? stops : nil
    }

    private mutating func colour(_ value: JSONValue, at key: String) -> StraightColour? {
        if case .string(let text) = value, text.utf8.count == 7, let colour = StraightColour(text) { return colour }
        report(key, value.text, allowed: "a colour \"#RRGGBB\"")
        return nil
    }

    private mutating func paint(_ members: [String: JSONValue], colourKey: String, at key: String) -> Paint? {
        let colour = members[colourKey].flatMap { self.colour($0, at: "\(key).\(colourKey)") }
        var opacity: Double?
        if let value = members["opacity"] {
            // An opacity that rounds to alpha 0 would hide reported data.
            if case .number(let number) = value, number <= 1, (number * 255).rounded() >= 1 { opacity = number }
            if opacity == nil { report("\(key).opacity", value.text, allowed: "a number above 0.002, at most 1") }
        }
        guard let colour, let opacity else { return nil }
        return Paint(colour, opacity: opacity)
    }

    /// The members of an object whose keys are all known; empty if the value is no object.
    private mutating func object(
        _ value: JSONValue, at key: String, required: [String], optional: [String] = []
    ) -> [String: JSONValue] {
        guard case .object(let members) = value else {
            report(key, value.text, allowed: "an object")
            return [:]
        }
        func path(_ member: String) -> String { key.isEmpty ? member : "\(key).\(member)" }
        let known = required + optional
        for unknown in members.keys.filter({ !known.contains($0) }).sorted() {
            report(path(unknown), "not a known key", allowed: known.joined(separator: ", "))
        }
        for missing in required where members[missing] == nil {
            report(path(missing), "missing", allowed: "every style has it")
        }
        return members
    }

    private mutating func report(_ key: String, _ value: String, allowed: String) {
        problems.append(StyleProblem(file: name, key: key, value: value, allowed: allowed))
    }
}
