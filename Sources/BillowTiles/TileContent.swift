public import BillowSnapshot
import Geometry
import Turbulence

/// The content of a tile of the hexagon layer: its cells with their severities. Tiles of equal content, place, scale
/// and style have equal bytes, whatever their version or instant.
public struct TileContent: Sendable, Hashable {
    /// The H3 resolution of the cells.
    public let resolution: Int
    /// Each is the cell's dense index × 8 + its severity, in ascending order.
    let cells: [UInt32]

    /// Whether no cell touches the tile.
    public var isEmpty: Bool { cells.isEmpty }
    /// The number of cells.
    public var count: Int { cells.count }

    /// Finds the cells of a frame that touch a tile.
    /// - Complexity: O(cells found + coarser cells above them)
    public init(of plane: FramePlane, in coord: TileCoord) {
        self.init(of: plane, in: coord.box, resolution: DrawnResolution.of(zoom: coord.z))
    }

    /// Finds the cells of a frame that touch a box, at a resolution of 0…5.
    init(of plane: FramePlane, in box: GridBox, resolution: Int) {
        self.resolution = resolution
        cells = plane.cells(resolution: resolution, in: box)
    }

    /// Mixes in everything in which two contents can differ.
    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(resolution))
        for cell in cells { fingerprint.mix(UInt64(cell)) }
    }
}

/// A 128-bit digest of a picture's inputs. It is the same in all processes, machines and builds, and isn't
/// cryptographic.
///
/// Two lanes of 64-bit multiply-xorshift mixing.
///
/// Source: MurmurHash3's finaliser, https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp
public struct Fingerprint: Sendable, Hashable {
    private var a: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var b: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    package init() {}

    @inline(__always)
    package mutating func mix(_ value: UInt64) {
        a = (a ^ value) &* 0xFF51_AFD7_ED55_8CCD
        a ^= a >> 33
        b = (b &+ value) &* 0xC4CE_B9FE_1A85_EC53
        b ^= b >> 29
    }

    package mutating func mix(_ text: String) {
        for byte in text.utf8 { mix(UInt64(byte)) }
        mix(0x100)
    }

    /// 32 hexadecimal digits.
    public var text: String {
        func digits(_ value: UInt64) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return digits(a) + digits(b)
    }
}
