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
    /// Whether fields are given as areas by severity in place of cells.
    func isContoured() throws(ParameterProblem) -> Bool {
        try choice("shape", [("cells", false), ("contours", true)]) ?? false
    }

    /// Which hexagons polygons are made of.
    func polygonMode() throws(ParameterProblem) -> PolygonMode {
        try choice("mode", PolygonMode.allCases.map { ($0.rawValue, $0) }) ?? .exact
    }
}
