import BillowSnapshot
import BillowTiles
import Geometry
import Turbulence

/// The approximate memory of a cached value.
extension PilotReport {
    var estimatedBytes: Int { MemoryLayout<PilotReport>.stride + 200 }
}

extension IssuedArea {
    var estimatedBytes: Int {
        let corners = geometry.polygons.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        return MemoryLayout<IssuedArea>.stride + 200 + corners * MemoryLayout<LonLat>.stride
    }
}

extension WindowPart {
    var estimatedBytes: Int { 25_000 + count * 28 }
}

extension Window {
    /// The bytes of the links alone; the rows belong to another cache entry.
    var estimatedBytesOfLinks: Int { 1_000 + count * 4 }
}

extension PictureData {
    /// The bytes of one symbol or label on the maps of the zooms that are usually asked for.
    private static let placedBytes = 600

    var estimatedBytes: Int {
        let reports = reports.reduce(0) { $0 + $1.estimatedBytes + Self.placedBytes }
        let areas = areas.values.joined().reduce(0) { $0 + $1.estimatedBytes + Self.placedBytes }
        let aircraft = positions.count * (MemoryLayout<AircraftPosition>.stride + Self.placedBytes)
        let tracked = tracks.reduce(0) { $0 + $1.count }
        return reports + areas + aircraft + tracked * MemoryLayout<AircraftPosition>.stride + tracks.count * 32
    }
}

extension Filter {
    /// The bytes of its sets.
    var estimatedBytes: Int {
        let sources = (sources ?? []).reduce(0) { $0 + $1.name.utf8.count + 64 }
        return sources + (kinds?.count ?? 0) * 16 + (areaKinds?.count ?? 0) * 64
    }
}

extension CellArea {
    /// The bytes of an area's index: rings have at most some hundred positions.
    var estimatedBytes: Int { self == .everywhere ? 0 : 20_000 }
}

extension TileRequest {
    /// The bytes of a style. A faded style has its own colours.
    var estimatedBytes: Int { 500 + filter.estimatedBytes }
}
