import BillowAreas
package import BillowEngine

extension PolygonShape {
    package static let names: Set<String> = ["mode", "tolerance", "smooth"]
    private static let tolerances = 0.0...5.0

    init(_ reader: QueryReader) throws(ParameterProblem) {
        self.init()
        mode = try reader.polygonMode()
        tolerance = try reader.number("tolerance", in: Self.tolerances) ?? 0
        smoothing = try reader.integer("smooth", in: 0...3) ?? 0
    }
}

extension QueryReader {
    /// Whether fields are returned as areas by severity instead of cells.
    func isContoured() throws(ParameterProblem) -> Bool {
        try choice("shape", [("cells", false), ("contours", true)]) ?? false
    }

    /// The same for a tile. A raster tile is drawn from the field's grid and has no contours.
    func isContoured(in format: TilePath.Format) throws(ParameterProblem) -> Bool {
        let isContoured = try isContoured()
        guard !isContoured || format == .vector else {
            throw invalid("shape", "contours", "cells; vector tiles and /collections/gtg/items have contours")
        }
        return isContoured
    }

    /// The rule that selects the hexagons of a polygon.
    func polygonMode() throws(ParameterProblem) -> PolygonMode {
        try choice("mode", PolygonMode.allCases.map { ($0.rawValue, $0) }) ?? .exact
    }
}
