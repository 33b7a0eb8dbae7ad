internal import CH3
import Foundation

/// The functions of the official H3 library that Billow needs. No pointer and no error code leaves this file.
public enum H3 {
    /// The cell of resolution 5 that contains a place.
    public static func cell(at place: LonLat) -> Cell {
        Cell(uncheckedDense: UInt32(dense(at: place, resolution: Cell.resolution)))
    }

    /// The dense index of the cell of a resolution 0–5 that contains a place. At coarse resolutions, the cell may
    /// differ from the ancestor of `cell(at:)`, whose outline it only approximates.
    package static func dense(at place: LonLat, resolution: Int) -> Int {
        var coordinate = LatLng(lat: degsToRads(place.latitude), lng: degsToRads(place.longitude))
        var index: H3Index_C = 0
        let error = latLngToCell(&coordinate, Int32(resolution), &index)
        precondition(error == 0, "latLngToCell refused a finite place")
        return H3Bits.dense(index, resolution: resolution)
    }

    /// The centre of a cell.
    public static func center(of cell: Cell) -> LonLat { center(h3: cell.h3) }

    /// The centre of any valid cell index.
    static func center(h3: UInt64) -> LonLat {
        var coordinate = LatLng()
        let error = cellToLatLng(h3, &coordinate)
        precondition(error == 0, "cellToLatLng refused a valid cell")
        return LonLat(
            uncheckedLongitude: LonLat.wrap(radsToDegs(coordinate.lng)), latitude: radsToDegs(coordinate.lat))
    }

    /// The vertices of any valid cell index, counter-clockwise, not closed. There are 6, or 5 for a pentagon, and one
    /// more for each edge of the icosahedron that the boundary crosses (10 at most).
    public static func boundary(h3: UInt64) -> [LonLat] {
        var boundary = CellBoundary()
        let error = cellToBoundary(h3, &boundary)
        precondition(error == 0, "cellToBoundary refused a valid cell")
        return withUnsafeBytes(of: boundary.verts) { bytes in
            bytes.bindMemory(to: LatLng.self).prefix(Int(boundary.numVerts)).map {
                LonLat(uncheckedLongitude: LonLat.wrap(radsToDegs($0.lng)), latitude: radsToDegs($0.lat))
            }
        }
    }

    /// The cells within `distance` steps of a cell, including itself, in no particular order.
    public static func disk(around cell: Cell, distance: Int) -> [Cell] {
        diskIndices(around: cell.h3, distance: distance).map {
            Cell(uncheckedDense: UInt32(H3Bits.dense($0, resolution: Cell.resolution)))
        }
    }

    static func diskIndices(around h3: UInt64, distance: Int) -> [UInt64] {
        var size: Int64 = 0
        precondition(maxGridDiskSize(Int32(distance), &size) == 0, "a disk of this distance has no size")
        var indices = [UInt64](repeating: 0, count: Int(size))
        precondition(gridDisk(h3, Int32(distance), &indices) == 0, "gridDisk refused a valid cell")
        return indices.filter { $0 != 0 }
    }

    /// The text form of a cell by its dense index at a resolution 0–5.
    public static func text(dense: Int, resolution: Int) -> String {
        String(index(dense: dense, resolution: resolution), radix: 16)
    }

    /// The cells of a coarser resolution, 0–4, in index order.
    package static func cells(resolution: Int) -> [UInt64] {
        (0..<Cell.baseCells * H3Bits.powerOfSeven(resolution)).compactMap {
            H3Bits.isDeleted(dense: $0, resolution: resolution)
                ? nil : H3Bits.index(dense: $0, resolution: resolution)
        }
    }

    /// The H3 index of a coarser cell (resolution 0–5) by its dense index at that resolution.
    package static func index(dense: Int, resolution: Int) -> UInt64 {
        H3Bits.index(dense: dense, resolution: resolution)
    }

    /// The area of a cell in km², on the sphere that H3 uses.
    public static func areaKm2(of cell: Cell) -> Double {
        var area = 0.0
        precondition(cellAreaKm2(cell.h3, &area) == 0, "cellAreaKm2 refused a valid cell")
        return area
    }
}

/// The name of the C type would hide Billow's `H3Index`.
private typealias H3Index_C = UInt64
