import EngineTestSupport
import Geometry
import Testing
import Turbulence

@testable import BillowParameters

/// What the tests of maps ask for again and again.
enum MapQuery {
    static let edge = 20_037_508.342789244

    /// `/wms` with the parameters of GetMap, some of them replaced; nil leaves one out.
    static func wms(_ changed: [String: String?] = [:]) -> String {
        var parameters: [String: String] = [
            "SERVICE": "WMS", "VERSION": "1.3.0", "REQUEST": "GetMap", "LAYERS": "hexagons", "STYLES": "",
            "CRS": "EPSG:3857", "BBOX": "\(-edge),\(-edge),\(edge),\(edge)", "WIDTH": "256", "HEIGHT": "256",
            "FORMAT": "image/png", "TRANSPARENT": "TRUE",
        ]
        for (name, value) in changed { parameters[name] = value }
        return address("/wms", parameters)
    }

    static func address(_ path: String, _ parameters: [String: String]) -> String {
        path + "?" + QueryReader.query(parameters)
    }

    /// The box of a tile in metres.
    static func box(z: Int, x: Int, y: Int) -> String {
        let side = 2 * edge / Double(1 << z)
        let (west, north) = (Double(x) * side - edge, edge - Double(y) * side)
        return "\(west),\(north - side),\(west + side),\(north)"
    }

    /// Inserts a disk of cells of each severity, 3° apart along 50° N, from smooth air at 0° to the east.
    static func fill(_ world: World) async throws {
        for (number, severity) in Severity.allCases.enumerated() {
            let place = try #require(LonLat(longitude: Double(number) * 3, latitude: 50))
            _ = try await world.insertDisk(severity, at: place, distance: 3)
        }
    }
}
