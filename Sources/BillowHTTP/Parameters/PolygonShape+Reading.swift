import BillowAreas
import BillowEngine

extension PolygonShape {
    static let names: Set<String> = ["mode", "tolerance", "smooth"]
    private static let tolerances = 0.0...5.0

    init(_ reader: QueryReader) throws(Problem) {
        self.init()
        mode = try reader.polygonMode()
        tolerance = try reader.number("tolerance", in: Self.tolerances) ?? 0
        smoothing = try reader.integer("smooth", in: 0...3) ?? 0
    }
}

extension QueryReader {
    /// Which hexagons polygons are made of.
    func polygonMode() throws(Problem) -> PolygonMode {
        try choice("mode", PolygonMode.allCases.map { ($0.rawValue, $0) }) ?? .exact
    }
}
