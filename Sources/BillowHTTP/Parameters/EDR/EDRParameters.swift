package import BillowEngine
import BillowSnapshot
package import Datasets
package import Turbulence

/// The parameters that all queries of OGC API EDR have for features, beside `FeatureParameters` and `PageParameters`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `z` | feet, or `low/high`; of grids also a list | 0…65000, at most 60 | `minAltitude` and `maxAltitude` |
/// | `parameter-name`, `parameter_names` | as `properties` of `PageParameters` | | all |
/// | `crs` | longitude and latitude of WGS 84 | `names` of `LonLatCRS` | CRS84 |
/// | `f` | format | `DataFormat` | GeoJSON |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2
package struct EDRParameters: Sendable {
    package let format: DataFormat
    /// The altitudes of features; nil for those of the filter.
    package let altitudes: AltitudeRange?
    /// The levels of a grid; nil for the maximum over the altitudes.
    package let levels: FieldLevelSelection?

    package static let names: Set<String> = Set(["parameter_names"]).union(["z", "parameter-name", "crs"])

    /// - Parameters:
    ///   - format: the one that the client prefers, unless `f` names one.
    ///   - heights: the altitudes in feet that the query's own geometry names, and the parameter that does.
    package init(
        _ reader: QueryReader, _ query: EDRQuery, of collection: Dataset, preferring format: DataFormat = .geoJSON,
        heights: (feet: ClosedRange<Double>, parameter: String)? = nil
    ) throws(ParameterProblem) {
        try reader.requireLonLat()
        let offered = query.formats(of: collection)
        self.format = try reader.dataFormat(offered) ?? (offered.contains(format) ? format : .geoJSON)
        var selection: FieldLevelSelection?
        var feet: ClosedRange<Double>?
        if reader.has("z"), !reader.has("corridor-height") {
            if let heights {
                throw reader.invalid("z", reader.text("z") ?? "", "left out where \(heights.parameter) has heights")
            }
            let found = try reader.levels()
            selection = found
            feet = try Self.feet(found, reader, isGrid: self.format == .coverageJSON)
        } else if let heights {
            feet = heights.feet
            selection = .within(Int(heights.feet.lowerBound)...Int(heights.feet.upperBound.rounded(.up)))
        }
        levels = selection
        guard let feet else {
            altitudes = nil
            return
        }
        for name in ["minAltitude", "maxAltitude"] where reader.has(name) {
            throw reader.invalid(name, reader.text(name) ?? "", "left out where altitudes are given otherwise")
        }
        altitudes = try Self.altitudes(feet)
    }

    /// nil for a list of levels, which only grids have.
    private static func feet(_ levels: FieldLevelSelection, _ reader: QueryReader, isGrid: Bool)
        throws(ParameterProblem) -> ClosedRange<Double>?
    {
        switch levels {
        case .all: return nil
        case .within(let range): return Double(range.lowerBound)...Double(range.upperBound)
        case .nearest(let list):
            if list.count == 1, let level = list.first { return Double(level)...Double(level) }
            guard isGrid else { throw reader.invalid("z", reader.text("z") ?? "", "feet, or low/high") }
            return nil
        }
    }

    /// The blocks from the one of the lower altitude to the one of the higher, both included.
    static func altitudes(_ feet: ClosedRange<Double>) throws(ParameterProblem) -> AltitudeRange {
        func block(_ feet: Double) -> Int { Int(min(max(feet, 0), 60_000)) / 1_000 }
        let (low, high) = (block(feet.lowerBound), block(feet.upperBound))
        do throws(ParameterError) {
            return try AltitudeRange(minimumFeet: low * 1_000, maximumFeet: high < 60 ? (high + 1) * 1_000 : nil)
        } catch { throw ParameterProblem(error) }
    }
}

extension QueryReader {
    /// The names of the one coordinate reference system of coordinates: longitude and latitude of WGS 84.
    package static let lonLatNames = [
        "CRS84", "OGC:CRS84", "CRS:84", "WGS84", "EPSG:4326", "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
        "http://www.opengis.net/def/crs/EPSG/0/4326",
    ]

    /// Validates `crs`. Coordinates are longitude first whatever it is called.
    func requireLonLat() throws(ParameterProblem) {
        guard let text = text("crs") else { return }
        guard Self.lonLatNames.contains(where: { $0.lowercased() == text.lowercased() }) else {
            throw invalid("crs", text, Self.lonLatNames.joined(separator: ", "))
        }
    }

    private static let allowedLevels = "feet from 0 to 65000, low/high, or a list of at most 60"

    /// The levels that `z` selects; all without it.
    func levels() throws(ParameterProblem) -> FieldLevelSelection {
        guard let text = text("z") else { return .all }
        func feet(_ part: Substring) throws(ParameterProblem) -> Int {
            guard let number = Self.decimal(part), (0...65_000).contains(number) else {
                throw invalid("z", text, Self.allowedLevels)
            }
            return Int(number.rounded())
        }
        let ends = text.split(separator: "/", omittingEmptySubsequences: false)
        if ends.count == 2 {
            let (low, high) = (try feet(ends[0]), try feet(ends[1]))
            guard low <= high else { throw invalid("z", text, Self.allowedLevels) }
            return .within(low...high)
        }
        let parts = text.split(separator: ",", maxSplits: 60, omittingEmptySubsequences: false)
        guard ends.count == 1, parts.count <= 60 else { throw invalid("z", text, Self.allowedLevels) }
        var list: [Int] = []
        for part in parts { list.append(try feet(part)) }
        return .nearest(list)
    }

    /// The heights in feet of a `bbox` of six numbers; nil for one of four.
    func bboxHeights() throws(ParameterProblem) -> ClosedRange<Double>? {
        guard let text = text("bbox") else { return nil }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Self.decimal($0) }
        guard numbers.count == 6 else { return nil }
        guard (0...65_000).contains(numbers[2]), (0...65_000).contains(numbers[5]), numbers[2] <= numbers[5] else {
            throw invalid("bbox", text, "west,south,low,east,north,high with feet from 0 to 65000, low not above high")
        }
        return numbers[2]...numbers[5]
    }
}
