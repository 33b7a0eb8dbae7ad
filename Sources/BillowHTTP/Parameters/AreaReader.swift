import BillowEngine
package import Geometry

/// Validates areas in requests.
package enum AreaReader {
    /// An area of polygons without holes: one ring, or the parts of a ring that the antimeridian cuts.
    /// - Parameters:
    ///   - parameter: the parameter or the member of the body that has them.
    ///   - value: its text; nil for that of the first positions.
    package static func area(
        _ polygons: [[[LonLat]]], limitKm2: Double?, parameter: String, value: String? = nil
    ) throws(ParameterProblem) -> AreaIndex {
        var parts: [[[LonLat]]] = []
        do throws(RingRules.Failure) {
            for rings in polygons {
                guard rings.count == 1, let ring = rings.first else {
                    throw rings.isEmpty ? .tooFew(0) : .holes(rings.count - 1)
                }
                parts += try RingRules.area(inside: ring).polygons
            }
            let positions = polygons.joined().reduce(0) { $0 + $1.count }
            // A ring of 250 positions has more positions after it is cut.
            guard positions <= 2 * AreaRing.positions.upperBound else { throw .tooMany(positions) }
            let area = MultiPolygon(polygons: parts)
            if let limitKm2, area.areaKm2 > limitKm2 {
                throw .tooLarge(km2: Int(min(area.areaKm2, 1e9).rounded()), limit: Int(limitKm2))
            }
            guard let index = AreaIndex(area) else { throw .withoutArea }
            return index
        } catch {
            let count = AreaRing.positions
            throw ParameterProblem(
                ParameterProblem.Kind(error), detail: "\(Self.capitalized(error.description)).", parameter: parameter,
                value: value ?? polygons.first?.first?.brief ?? "no ring",
                allowed: "a closed ring of \(count.lowerBound) to \(count.upperBound) positions around an area, which "
                    + "doesn't cross itself" + (limitKm2.map { "; at most \(Int($0)) km²" } ?? ""))
        }
    }

    /// The corridor around a requested route.
    ///
    /// - Parameter width: nautical miles, edge to edge; nil for the requested width.
    package static func corridor(
        around requested: RouteReader.RequestedRoute, width: Double? = nil, tolerance: Double? = nil
    )
        throws(ParameterProblem) -> Corridor
    {
        do { return try Corridor(around: requested.route, width: width ?? requested.width, tolerance: tolerance) } catch
        {
            let isWidth = if case .width = error { true } else { false }
            throw ParameterProblem(
                ParameterProblem.Kind(error), detail: "\(capitalized(error.description)).",
                parameter: isWidth ? "width" : requested.parameter,
                value: isWidth ? "\(width ?? requested.width)" : requested.text, allowed: error.allowed)
        }
    }

    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
