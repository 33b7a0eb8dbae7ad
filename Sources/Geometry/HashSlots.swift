/// A hash table from keys of 64 bits to positions in an array: linear probing, never full. For hot loops, where a
/// dictionary would take most of the time.
@usableFromInline package struct HashSlots: Sendable {
    /// The position + 1; 0 is a free slot.
    @usableFromInline var slots: [UInt32]
    @usableFromInline let mask: Int

    /// - Parameter expected: the maximum number of elements.
    package init(expecting expected: Int) {
        let size = 1 << (Int.bitWidth - max(expected * 2, 16).leadingZeroBitCount)
        slots = [UInt32](repeating: 0, count: size)
        mask = size - 1
    }

    /// The slot of the element with a key, or the free slot for it.
    @inlinable
    @inline(__always)
    package func slot(of key: UInt64, isIt: (Int) -> Bool) -> Int {
        // Source of the mixing constants: SplitMix64, S. Vigna
        var hash = key &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32) &* 0xBF58_476D_1CE4_E5B9
        var slot = Int(truncatingIfNeeded: hash >> 32) & mask
        while slots[slot] != 0, !isIt(Int(slots[slot] - 1)) { slot = (slot + 1) & mask }
        return slot
    }

    /// The position of the element in a slot; nil if the slot is free.
    @inlinable package subscript(slot: Int) -> Int? { slots[slot] == 0 ? nil : Int(slots[slot] - 1) }

    @inlinable package mutating func fill(_ slot: Int, with place: Int) { slots[slot] = UInt32(place + 1) }
}

/// Numbers distinct corners in the order of their first occurrence.
package struct CornerNumbers: Sendable {
    /// The corners by number.
    package private(set) var corners: [GridPoint] = []
    private var table: HashSlots

    /// - Parameter expected: the maximum number of different corners.
    package init(expecting expected: Int) {
        table = HashSlots(expecting: expected)
        corners.reserveCapacity(expected)
    }

    package mutating func number(_ point: GridPoint) -> UInt32 {
        let slot = table.slot(of: UInt64(bits: point)) { corners[$0] == point }
        if let known = table[slot] { return UInt32(known) }
        table.fill(slot, with: corners.count)
        corners.append(point)
        return UInt32(corners.count - 1)
    }
}

extension UInt64 {
    /// The coordinates of a grid point in one number.
    package init(bits point: GridPoint) {
        self = UInt64(UInt32(bitPattern: point.x)) << 32 | UInt64(UInt32(bitPattern: point.y))
    }
}

extension Array {
    /// A copy without spare capacity, for long-lived arrays.
    package func withoutRoom() -> [Element] {
        var copy: [Element] = []
        copy.reserveCapacity(count)
        copy.append(contentsOf: self)
        return copy
    }
}
