import BillowEngine
import BillowRaster

/// The parameters of a WMS or WMTS request. Names are case-insensitive. Unknown parameters are ignored, because clients
/// add parameters of other servers.
///
/// Source: OGC 06-042 (WMS 1.3.0) section 6.8; OGC 06-121r3 (OWS Common 1.1) section 11.5
package struct KVPReader: Sendable {
    /// The values, by name in upper case.
    private let values: [String: String]

    /// Billow's own parameters, which filter and style the result in addition to those of the standards.
    package static let ownNames = tileNames.union(["legend", "timestamp", "scalebar"])
    /// Those of tiles, which have no furniture.
    package static let tileNames = QueryReader.filterNames.union(["opacity", "labels", "incomplete"])

    /// - Throws: `OGCException` if a parameter has two different values.
    package init(_ items: some Sequence<(name: String, value: String)>) throws(OGCException) {
        var values: [String: String] = [:]
        for (name, value) in items {
            let name = name.uppercased()
            guard values[name] == nil || values[name] == value else {
                throw OGCException(
                    .invalidParameterValue, String(name.prefix(100)),
                    detail: "The parameter '\(name.prefix(100))' has two values.")
            }
            values[name] = value
        }
        self.values = values
    }

    /// A value; nil if it is missing or empty.
    package func text(_ name: String) -> String? {
        assert(Self.ownNames.contains(name) || ServiceParameter.isKnown(name), "\(name) is not described")
        guard let value = values[name.uppercased()], !value.isEmpty else { return nil }
        return value
    }

    /// - Throws: `OGCException` if it is missing or empty.
    package func required(_ name: String) throws(OGCException) -> String {
        guard let value = text(name) else {
            throw OGCException(.missingParameterValue, name, detail: "The parameter '\(name)' is missing.")
        }
        return value
    }

    /// A required integer in a range.
    func integer(_ name: String, in range: ClosedRange<Int>, _ code: OGCException.Code = .invalidParameterValue)
        throws(OGCException) -> Int
    {
        let text = try required(name)
        guard let number = PlainInteger.parse(text), range.contains(number) else {
            throw OGCException(
                code, name, text, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The items of a comma-separated list; empty if it is missing or empty.
    func names(_ name: String) -> [String] {
        text(name)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    /// The pixels per point, from the client's resolution: 96 dpi is 1, the maximum is 3.
    ///
    /// QGIS sends it as `DPI`, and for other servers also as `MAP_RESOLUTION`.
    var scale: Int {
        guard let dpi = (text("DPI") ?? text("MAP_RESOLUTION")).flatMap({ QueryReader.decimal($0) }) else { return 1 }
        return Int(min(max((dpi / 96).rounded(), 1), 3))
    }

    /// Billow's own parameters, with some overridden.
    func own(_ more: [String: String] = [:]) -> QueryReader {
        var own = more
        for name in Self.ownNames { if let value = text(name) { own[name] = own[name] ?? value } }
        return QueryReader(own)
    }
}

/// Translates an error of Billow's own parameters to one of the standards.
func translated<Value>(_ body: () throws(ParameterProblem) -> Value) throws(OGCException) -> Value {
    do { return try body() } catch { throw OGCException(error) }
}

extension StyleLibrary {
    /// A style by its name; the default if the name is empty.
    func style(named name: String, opacity: QueryReader, locator: String) throws(OGCException) -> Style {
        guard name.isEmpty || name == "default" || self[name] != nil else {
            throw OGCException(
                .styleNotDefined, locator, name, expected: styles.map(\.id).joined(separator: ", "))
        }
        var wanted = ["style": name.isEmpty || name == "default" ? StyleLibrary.defaultID : name]
        if let text = opacity.text("opacity") { wanted["opacity"] = text }
        return try translated { () throws(ParameterProblem) in try self.style(QueryReader(wanted)) }
    }
}
