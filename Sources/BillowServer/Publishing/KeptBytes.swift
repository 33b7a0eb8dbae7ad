import BillowSnapshot
import BillowTiles
import Geometry
import Turbulence

/// About what records take in memory while a cache keeps them.
extension PilotReport {
    var keptBytes: Int { MemoryLayout<PilotReport>.stride + 200 }
}

extension IssuedArea {
    var keptBytes: Int {
        let corners = geometry.polygons.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        return MemoryLayout<IssuedArea>.stride + 200 + corners * MemoryLayout<LonLat>.stride
    }
}

extension WindowPart {
    var keptBytes: Int { 25_000 + count * 28 }
}

extension Window {
    /// Of rows that are kept elsewhere, with links of its own.
    var keptBytesOfLinks: Int { 1_000 + count * 4 }
}

extension PictureData {
    var keptBytes: Int {
        let reports = reports.reduce(0) { $0 + $1.keptBytes }
        let areas = (hazards + forecasts).reduce(0) { $0 + $1.keptBytes }
        let positions = positions.count + tracks.reduce(0) { $0 + $1.count }
        return reports + areas + positions * MemoryLayout<AircraftPosition>.stride + tracks.count * 32
    }
}
