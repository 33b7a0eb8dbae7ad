internal import Geometry
internal import Turbulence

/// The hash behind the keys of observations that were stored before `ContentTags`: 64-bit FNV-1a over place and time,
/// folded to the 30 bits of a tag.
///
/// What is hashed is part of the file's format, so it never changes: the source's name, its end (a zero byte), the H3
/// index (8 bytes, lowest first), the lowest and highest block, the second (8 bytes), the category or 0.
///
/// Source: Fowler, Noll, Vo, Eastlake, draft-eastlake-fnv (FNV-1a, 64 bit; folding by XOR, section 3)
struct ContentHash {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The 30-bit tag of what an observation is about.
    static func tag(of observation: Observation) -> UInt32 {
        var hash = ContentHash()
        for byte in observation.source.name.utf8 { hash.mix(byte) }
        hash.mix(0)
        hash.mix(observation.cell.h3, bytes: 8)
        hash.mix(observation.altitude.lowest.thousands)
        hash.mix(observation.altitude.highest.thousands)
        hash.mix(UInt64(observation.observedAt.seconds), bytes: 8)
        hash.mix(observation.category?.number ?? 0)
        return hash.folded
    }

    private mutating func mix(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    private mutating func mix(_ value: UInt64, bytes: Int) {
        for index in 0..<bytes { mix(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    private var folded: UInt32 { UInt32(truncatingIfNeeded: state ^ state >> 30 ^ state >> 60) & 0x3FFF_FFFF }
}
