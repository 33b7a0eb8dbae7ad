public import BillowSnapshot
import Geometry
import Turbulence

/// All that a tile of the hexagon layer is made of: its cells with their severities. Two tiles with equal content,
/// place, scale and style are the same bytes, whatever their version or instant.
public struct TileContent: Sendable, Hashable {
    /// The H3 resolution of the cells.
    public let resolution: Int
    /// Dense index × 8 + severity, in rising order.
    let cells: [UInt32]

    /// Whether no cell shares a point with the tile.
    public var isEmpty: Bool { cells.isEmpty }
    /// How many cells it draws.
    public var count: Int { cells.count }

    /// The cells of a frame that share a point with a tile.
    /// - Complexity: O(cells found + coarser cells above them)
    public init(of plane: FramePlane, in coord: TileCoord) {
        self.init(of: plane, in: coord.box, resolution: DrawnResolution.of(zoom: coord.z))
    }

    /// The cells of a frame that share a point with a box, in a resolution of 0…5.
    init(of plane: FramePlane, in box: GridBox, resolution: Int) {
        self.resolution = resolution
        cells = plane.cells(resolution: resolution, in: box)
    }

    /// Adds all that tells two contents apart.
    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(resolution))
        for cell in cells { fingerprint.mix(UInt64(cell)) }
    }
}

/// A 128-bit digest of a picture's inputs: stable between processes, machines and builds. Not cryptographic.
///
/// Source: two lanes of 64-bit multiply-xorshift mixing with the constants of MurmurHash3's finaliser
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
