internal import Geometry
internal import Turbulence

/// The tags of new observations: SipHash-2-4 with a secret of the database, truncated to 30 bits. Without the secret, a
/// client can't construct contents whose tags collide.
///
/// The secret and the hashed values are part of the file format: the tag is how a duplicate observation is found.
package struct ContentTags: Sendable {
    /// The input of a row's tag.
    enum Subject: Sendable {
        /// An independent report: place, time and intensity.
        case report(Observation)
        /// A computed value: place and time only, because a correction replaces the previous value.
        case value(Observation)
        /// A row that is found by its reporter's id: a number that is unique within the version.
        case row(version: Int64, number: Int)
    }

    private let hash: @Sendable (Subject) -> UInt32

    init(secret: SipHash.Key) { hash = { Self.tag(of: $0, secret) } }

    /// For tests that force collisions.
    init(hash: @escaping @Sendable (Subject) -> UInt32) { self.hash = hash }

    /// Returns a tag of 30 bits.
    func callAsFunction(_ subject: Subject) -> UInt32 { hash(subject) & 0x3FFF_FFFF }

    private static func tag(of subject: Subject, _ secret: SipHash.Key) -> UInt32 {
        var hash = SipHash(secret)
        switch subject {
        case .report(let observation):
            hash.mix(1)
            mix(observation, into: &hash)
            hash.mix(observation.intensity.severity.map { UInt64($0.rawValue) + 1 } ?? 0)
            hash.mix(observation.intensity.edr.map { UInt64($0.tenThousandths) + 1 } ?? 0)
        case .value(let observation):
            hash.mix(2)
            mix(observation, into: &hash)
        case .row(let version, let number):
            hash.mix(3)
            hash.mix(UInt64(bitPattern: version))
            hash.mix(UInt64(number))
        }
        return UInt32(truncatingIfNeeded: hash.finalized())
    }

    private static func mix(_ observation: Observation, into hash: inout SipHash) {
        hash.mix(observation.source.name.utf8)
        hash.mix(observation.cell.h3)
        let altitude = observation.altitude
        hash.mix(
            UInt64(altitude.lowest.thousands) << 16 | UInt64(altitude.highest.thousands) << 8
                | UInt64(observation.category?.number ?? 0))
        hash.mix(UInt64(observation.observedAt.seconds))
    }
}

extension ContentTags {
    /// Reads the secret of a log.
    package init(_ db: any SQLConnection) throws {
        let bytes = try StoredHead(db).tagSecret
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(secret: SipHash.Key(first: word(bytes[..<8]), second: word(bytes[8...])))
    }
}

/// SipHash-2-4 over 64-bit words: a keyed hash that resists chosen inputs.
///
/// Source: Aumasson, Bernstein, SipHash: a fast short-input PRF, 2012, https://doi.org/10.1007/978-3-642-34931-7_28
struct SipHash {
    struct Key: Sendable, Hashable {
        var first: UInt64
        var second: UInt64
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var bytes: UInt64 = 0

    init(_ key: Key) {
        v0 = key.first ^ 0x736f_6d65_7073_6575
        v1 = key.second ^ 0x646f_7261_6e64_6f6d
        v2 = key.first ^ 0x6c79_6765_6e65_7261
        v3 = key.second ^ 0x7465_6462_7974_6573
    }

    /// Mixes in eight bytes, little-endian.
    mutating func mix(_ word: UInt64) {
        bytes &+= 8
        compress(word)
    }

    /// Mixes in a text: its length, then its bytes in zero-padded words.
    mutating func mix(_ text: String.UTF8View) {
        mix(UInt64(text.count))
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for byte in text {
            word |= UInt64(byte) << shift
            shift += 8
            if shift == 64 {
                mix(word)
                (word, shift) = (0, 0)
            }
        }
        if shift > 0 { mix(word) }
    }

    /// - Parameter tail: the bytes after the last whole word, at most seven, little-endian.
    func finalized(tail: UInt64 = 0, tailBytes: UInt64 = 0) -> UInt64 {
        var end = self
        end.compress((bytes &+ tailBytes) << 56 | tail)
        end.v2 ^= 0xFF
        for _ in 0..<4 { end.round() }
        return end.v0 ^ end.v1 ^ end.v2 ^ end.v3
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func round() {
        v0 &+= v1
        v1 = Self.rotated(v1, 13) ^ v0
        v0 = Self.rotated(v0, 32)
        v2 &+= v3
        v3 = Self.rotated(v3, 16) ^ v2
        v0 &+= v3
        v3 = Self.rotated(v3, 21) ^ v0
        v2 &+= v1
        v1 = Self.rotated(v1, 17) ^ v2
        v2 = Self.rotated(v2, 32)
    }

    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
}
