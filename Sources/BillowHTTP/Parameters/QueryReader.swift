import BillowAreas
package import BillowEngine
import BillowFields
package import BillowSnapshot
package import Datasets
import Foundation
import Geometry
import Turbulence

/// Parses the parameters of a request into validated types. Every error names the parameter, the value and the valid
/// values.
package struct QueryReader: Sendable {
    private let values: [String: String]

    /// The filter parameters that select data.
    static let conditionNames: Set<String> = [
        "hours", "severity", "minSeverity", "minAltitude", "maxAltitude", "source", "kind", "category", "product",
        "run", "smoothing",
    ]
    /// The parameters that all routes with data share: the conditions, and what is made of the data.
    package static let filterNames = conditionNames.union(["aggregate", "mode"])

    /// The parameters of images, legends and manifests, which ignore all others.
    private static let pictureNames = filterNames.union([
        "style", "opacity", "labels", "time", "v", "mode", "shape", "bbox", "width", "height", "scale", "legend",
        "timestamp",
        "background", "scalebar", "layer", "layers", "theme", "orientation", "f", "start", "end", "intervals", "anchor",
        "rule",
        "delay", "hold", "loop", "form", "size",
    ])

    /// `known`: the permitted parameters of OGC routes, on which any other is an error; nil ignores unknown ones, as
    /// for tiles.
    ///
    /// Source: OGC 17-069r4 (OGC API Features part 1) requirement 8
    package init(_ items: some Sequence<(name: String, value: String)>, known: Set<String>? = nil)
        throws(ParameterProblem)
    {
        var values: [String: String] = [:]
        for (name, value) in items {
            if SignedAddress.parameters.contains(name) { continue }
            if let known {
                guard known.contains(name) else {
                    throw ParameterProblem(
                        .unknownParameter,
                        detail: "There is no parameter '\(name.prefix(100))' here.",
                        parameter: String(name.prefix(100)), value: String(value.prefix(100)),
                        allowed: known.sorted().joined(separator: ", "))
                }
                guard values[name] == nil else {
                    throw ParameterProblem(
                        .repeatedParameter, detail: "The parameter '\(name)' is given twice.",
                        parameter: name, value: String(value.prefix(100)), allowed: "once")
                }
            }
            if let other = values[name], other != value, Self.pictureNames.contains(name) {
                // Either value would make the result differ from the URL.
                throw ParameterProblem(
                    .repeatedParameter, detail: "The parameter '\(name)' has two values.",
                    parameter: name, value: String(value.prefix(100)), allowed: "one value")
            }
            if values[name] == nil { values[name] = value }
        }
        self.values = values
    }

    /// Parameters that don't come from a request.
    package init(_ values: [String: String]) { self.values = values }

    package func text(_ name: String) -> String? { values[name] }

    /// A text of words with blanks, or with plus signs, which forms send for blanks.
    ///
    /// Source: WHATWG URL Standard, application/x-www-form-urlencoded
    func phrase(_ name: String) -> String? { values[name]?.replacing("+", with: " ") }

    /// All parameters.
    package var all: [String: String] { values }

    /// Some of the parameters as the query of another URL, sorted by name; empty if none is present.
    package func passedOn(_ names: Set<String>) -> String {
        let query = Self.query(values.filter { names.contains($0.key) })
        return query.isEmpty ? "" : "?\(query)"
    }

    /// All parameters as a query, with some replaced.
    package func replacing(_ changed: [String: String]) -> String {
        Self.query(values.merging(changed) { _, new in new })
    }

    /// Parameters as the query of a URL, sorted by name. The names need no encoding.
    package static func query(_ parameters: [String: String]) -> String {
        var text: [UInt8] = []
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            if !text.isEmpty { text.append(UInt8(ascii: "&")) }
            text += name.utf8
            text.append(UInt8(ascii: "="))
            for byte in value.utf8 {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "/"):
                    text.append(byte)
                default:
                    let digits = Array("0123456789ABCDEF".utf8)
                    text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    // MARK: - Values

    /// An integer in a range, in plain digits.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(ParameterProblem) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = PlainInteger.parse(text), range.contains(number) else {
            throw invalid(name, text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// An integer from 1 on, in plain digits; a larger one is reduced to the maximum.
    func count(_ name: String, upTo most: Int) throws(ParameterProblem) -> Int? {
        guard let text = values[name] else { return nil }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, text.contains(where: { $0 != "0" }) else {
            throw invalid(name, text, "a whole number from 1; above \(most) it counts as \(most)")
        }
        return min(PlainInteger.parse(text) ?? most, most)
    }

    /// A decimal number in a range.
    package func number(_ name: String, in range: ClosedRange<Double>) throws(ParameterProblem) -> Double? {
        guard let text = values[name] else { return nil }
        guard let number = Self.decimal(text), range.contains(number) else {
            throw invalid(name, text, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func boolean(_ name: String) throws(ParameterProblem) -> Bool? {
        guard let text = values[name] else { return nil }
        switch text {
        case "true": return true
        case "false": return false
        default: throw invalid(name, text, "true or false")
        }
    }

    /// One of several words.
    package func choice<Value>(_ name: String, _ choices: [(String, Value)]) throws(ParameterProblem) -> Value? {
        guard let text = values[name] else { return nil }
        guard let match = choices.first(where: { $0.0 == text }) else {
            throw invalid(name, text, choices.map(\.0).joined(separator: ", "))
        }
        return match.1
    }

    /// Validates the `f` of routes with a single format.
    package func requireJSON(_ name: String = "json") throws(ParameterProblem) {
        _ = try choice("f", name == "json" ? [("json", 0)] : [("json", 0), (name, 0)])
    }

    /// A decimal number such as `-12.5` or `1e-3`: no blanks, no hexadecimal, no words.
    package static func decimal(_ text: some StringProtocol) -> Double? {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        return isPlain ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }

    // MARK: - Filters

    /// What a filter is for. It decides which values of `aggregate` and `mode` apply.
    package enum FilterPurpose: Sendable {
        /// Features as they are.
        case features
        /// Changes of features, which are known by their ids.
        case changes
        /// Pictures, tiles, and descriptions of them.
        case pictures
    }

    /// The filter of some datasets. No route reads it without a check of `aggregate` and `mode`.
    ///
    /// - Parameter isContoured: whether fields are shown as areas by severity.
    package func filter(of datasets: [Dataset], for use: FilterPurpose, isContoured: Bool = false)
        throws(ParameterProblem)
        -> Filter
    {
        try checkForm(of: datasets, for: use, isContoured: isContoured)
        let kinds = try kinds()
        var filter = Filter(
            history: try choice("hours", History.allCases.map { ($0.text, $0) }) ?? .default,
            severities: try severities(), altitudes: try altitudes(), sources: try sources(),
            kinds: kinds?.observations, areaKinds: kinds?.areas,
            category: try choice("category", AircraftCategory.all.map { ($0.name, $0) }) ?? .default)
        filter.field = try fieldSelection(filter.severities)
        return filter
    }

    /// Refuses values of `aggregate` and `mode` that are unknown, or that don't apply. The default always applies.
    private func checkForm(of datasets: [Dataset], for use: FilterPurpose, isContoured: Bool) throws(ParameterProblem) {
        let isAggregated = datasets.contains { dataset in
            dataset.isPolygons || use != .features && dataset.showsCells
        }
        if try boolean("aggregate") == false, isAggregated {
            throw invalid("aggregate", "false", "true; items and exports of hexagons have every standing observation")
        }
        let hasAreas =
            isContoured
            || datasets.contains { dataset in
                dataset.isPolygons || use == .pictures && dataset.showsPolygons(atZoom: 0)
            }
        if try polygonMode() == .atLeast, !hasAreas {
            throw invalid("mode", PolygonMode.atLeast.rawValue, "exact; polygons and contours alone have another mode")
        }
    }

    /// The selection of turbulence fields. Smooth air is shown only if the requested severities include it.
    private func fieldSelection(_ severities: SeveritySet) throws(ParameterProblem) -> FieldSelection {
        var run: Instant?
        if let text = values["run"] {
            guard let instant = Instant(text, fraction: true) else {
                throw invalid("run", text, "the instant at which a run began, such as 2026-11-22T12:00:00Z")
            }
            run = instant
        }
        return FieldSelection(
            product: try choice("product", FieldProduct.allCases.map { ($0.name, $0) }), run: run,
            isSmoothed: try boolean("smoothing") ?? false,
            showsSmoothAir: (has("severity") || has("minSeverity")) && severities.contains(.smooth))
    }

    private static let severityWords = "0 to 4, or " + Severity.allCases.map(\.name).joined(separator: ", ")

    private func severities() throws(ParameterProblem) -> SeveritySet {
        var set = SeveritySet.all
        if let text = values["severity"] {
            var listed: [Severity] = []
            for word in try names("severity", text) {
                guard let severity = Severity(word) else {
                    throw invalid("severity", text, "a list of \(Self.severityWords)")
                }
                listed.append(severity)
            }
            set = SeveritySet(listed)
        }
        if let text = values["minSeverity"] {
            guard let severity = Severity(text) else { throw invalid("minSeverity", text, Self.severityWords) }
            set = set.intersection(.atLeast(severity))
        }
        return set
    }

    private func altitudes() throws(ParameterProblem) -> AltitudeRange {
        let minimum = try integer("minAltitude", in: 0...60_000)
        let maximum = try integer("maxAltitude", in: 0...60_000)
        do { return try AltitudeRange(minimumFeet: minimum, maximumFeet: maximum) } catch {
            throw ParameterProblem(error)
        }
    }

    /// The most names in a list. Every cache entry of a frame holds its filter.
    static let maximumNames = 32

    private func names(_ name: String, _ text: String) throws(ParameterProblem) -> [Substring] {
        let words = text.split(separator: ",", maxSplits: Self.maximumNames, omittingEmptySubsequences: false)
        guard words.count <= Self.maximumNames else {
            throw invalid(name, "\(text.prefix(100))…", "a list of at most \(Self.maximumNames) names")
        }
        return words
    }

    private func sources() throws(ParameterProblem) -> Set<SourceID>? {
        guard let text = values["source"] else { return nil }
        return try Self.sources(try names("source", text), text)
    }

    /// The sources of a list of ids, for `source` in queries and in bodies.
    /// - Parameter text: what was sent.
    /// - Throws: `ParameterProblem` for an empty list and an invalid id.
    static func sources(_ names: [some StringProtocol], _ text: String) throws(ParameterProblem) -> Set<SourceID> {
        let ids = names.compactMap { SourceID($0) }
        guard !ids.isEmpty, ids.count == names.count else {
            throw ParameterProblem(
                ParameterError(
                    parameter: "source", value: text,
                    expected: "a list of ids of 1 to 64 letters, digits, '-', '_' and '.'"))
        }
        return Set(ids)
    }

    /// The kinds of observations and of issued areas. A request for kinds of one sort excludes the other.
    private func kinds() throws(ParameterProblem) -> (observations: Set<ObservationKind>, areas: Set<String>)? {
        guard let text = values["kind"] else { return nil }
        var observations = Set<ObservationKind>()
        var areas = Set<String>()
        for word in try names("kind", text) {
            if let kind = ObservationKind(name: word) {
                observations.insert(kind)
            } else if Catalogue.areaKinds.contains(where: { $0.id == word }) {
                areas.insert(String(word))
            } else {
                let known = ObservationKind.shown.map(\.name) + Catalogue.areaKinds.map(\.id)
                throw invalid("kind", text, "a list of " + known.joined(separator: ", "))
            }
        }
        return (observations, areas)
    }

    // MARK: - Time and space

    /// `latest` or an instant.
    package func time() throws(ParameterProblem) -> RequestedTime { try Self.time(values["time"] ?? "latest") }

    package static func time(_ text: String) throws(ParameterProblem) -> RequestedTime {
        if text == "latest" { return .latest }
        guard let seconds = Instant.unixSeconds(text, fraction: true) else {
            throw ParameterProblem(
                ParameterError(
                    parameter: "time", value: text,
                    expected: "latest or an instant with a zone, such as 20261121T023000Z"))
        }
        return RequestedTime(Instant(seconds: seconds).map { .instant($0) } ?? .beyond, parameter: "time", text: text)
    }

    /// An instant or an interval, either end open, in the format of OGC API Features; ends included.
    ///
    /// Source: OGC 17-069r4 section 7.15.4
    func datetime() throws(ParameterProblem) -> DatetimeParameter? {
        guard let text = values["datetime"] else { return nil }
        let expected = "an instant (2026-11-21T02:30:00Z) or an interval a/b whose ends may be '..'"
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 1 {
            guard let instant = Self.instant(parts[0]) else { throw invalid("datetime", text, expected) }
            return .instant(instant)
        }
        guard parts.count == 2 else { throw invalid("datetime", text, expected) }
        var ends: [Instant?] = []
        for part in parts {
            if part.isEmpty || part == ".." {
                ends.append(nil)
            } else {
                guard let instant = Self.instant(part) else { throw invalid("datetime", text, expected) }
                ends.append(instant)
            }
        }
        if let start = ends[0], let end = ends[1], start > end {
            throw invalid("datetime", text, "an interval whose start is not after its end")
        }
        return .interval(ends[0], ends[1])
    }

    /// An instant of any year. It is limited to the nearest instant that the log can hold, because there is no data
    /// outside.
    private static func instant(_ text: Substring) -> Instant? {
        Instant.unixSeconds(text, fraction: true).map { Instant(clamping: $0) }
    }

    /// West, south, east, north; or six numbers with heights, which are ignored.
    ///
    /// Source: OGC 17-069r4 section 7.15.3
    func bbox() throws(ParameterProblem) -> BoundingBox? { try boundingBox("bbox")?.box }

    /// The width of `bbox` in degrees, as written; negative across the antimeridian.
    func bboxWidth() throws(ParameterProblem) -> Double? { try boundingBox("bbox")?.width }

    private func boundingBox(_ name: String) throws(ParameterProblem) -> (box: BoundingBox, width: Double)? {
        guard let text = values[name] else { return nil }
        let expected =
            "four numbers, west,south,east,north, in degrees: longitudes from -360 to 360 (190 is -170), latitudes "
            + "from -90 to 90, south not above north; or six with heights"
        var numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Self.decimal($0) }
        guard numbers.count == text.count(where: { $0 == "," }) + 1 else { throw invalid(name, text, expected) }
        if numbers.count == 6 { numbers = [numbers[0], numbers[1], numbers[3], numbers[4]] }
        guard numbers.count == 4,
            let box = BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
        else { throw invalid(name, text, expected) }
        return (box, numbers[2] - numbers[0])
    }

    package func invalid(_ name: String, _ value: String, _ expected: String) -> ParameterProblem {
        ParameterProblem(ParameterError(parameter: name, value: value, expected: expected))
    }
}

/// The value of the `datetime` parameter.
enum DatetimeParameter: Sendable, Hashable {
    case instant(Instant)
    case interval(Instant?, Instant?)
}

extension QueryReader {
    /// A required phrase.
    /// - Parameter expected: what it can be, as a phrase that follows "must be".
    func required(_ name: String, _ expected: String) throws(ParameterProblem) -> String {
        guard let text = phrase(name) else {
            throw ParameterProblem(
                .missingParameter, detail: "The parameter '\(name)' is missing.", parameter: name,
                value: ParameterProblem.missing, allowed: expected)
        }
        return text
    }
}
