import Foundation
import Geometry
import Turbulence

/// The air of every benchmark: a fixed number of hexagons as a busy two hours leave them.
///
/// Strings of cells lie along flights, thick where traffic is dense. The field of turbulence under them has patches
/// that have drifted; some are known over their whole extent. It is spatially correlated and comes from a seed: it is
/// the same on every machine.
struct World {
    /// Severities by cell, in cell order.
    let cells: [(cell: Cell, severity: Severity)]

    /// As many as the peers were first measured with.
    static let hexagons = 173_380

    init(seed: UInt64, count: Int = World.hexagons) {
        var random = SplitMix64(seed: seed)
        let field = TurbulenceField(random: &random)
        var found = Set<Cell>()
        found.reserveCapacity(count + 1_000)
        for patch in field.patches.prefix(TurbulenceField.knownPatches) {
            for cell in H3.disk(around: H3.cell(at: Self.place(patch.center)), distance: Int(patch.radiusKm / 17))
            where field.severity(at: Self.vector(H3.center(of: cell))) > .smooth && found.count < count / 3 {
                found.insert(cell)
            }
        }
        while found.count < count {
            Flight(random: &random)?.visit { cell in if found.count < count { found.insert(cell) } }
        }
        cells = found.sorted().map { ($0, field.severity(at: Self.vector(H3.center(of: $0)))) }
    }

    /// One report a cell at FL350, all within the hour before `World.now`.
    func rows() -> [ObservationRow] { rows(count: cells.count) }

    /// Reports of the same cells, over and over at other levels and times, until there are `count`.
    func rows(count: Int) -> [ObservationRow] {
        let source = SourceNumber(rawValue: 0)
        return (0..<count).compactMap { index in
            let (cell, severity) = cells[index % cells.count]
            let lap = index / cells.count
            let seconds = Int(cell.dense &* 2_654_435_761 >> 8) % 3_500 + lap * 397
            let observedAt = World.now.advanced(by: -seconds)
            guard let level = AltitudeBlock(thousands: 35 - lap) else { return nil }
            return ObservationRow(
                key: ObservationKey(observedAt: observedAt, tag: UInt32(index)), cell: cell,
                altitude: AltitudeBand(level), intensity: .reported(severity, edr: nil), observedAt: observedAt,
                category: nil, source: source, kind: .inSitu, since: .zero)
        }
    }

    static let now = Instant(clamping: 1_790_000_000)

    static func vector(_ place: LonLat) -> SIMD3<Double> {
        let lon = place.longitude * .pi / 180
        let lat = place.latitude * .pi / 180
        return SIMD3(cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat))
    }

    static func place(_ v: SIMD3<Double>) -> LonLat {
        let degrees = 180 / Double.pi
        let longitude = atan2(v.y, v.x) * degrees
        let latitude = asin(min(max(v.z, -1), 1)) * degrees
        guard let place = LonLat(longitude: longitude, latitude: latitude) else {
            preconditionFailure("a vector of the unit sphere has a place")
        }
        return place
    }
}

/// How rough the air is anywhere: patches with ragged rims.
struct TurbulenceField {
    struct Patch {
        var center: SIMD3<Double>
        var radiusKm: Double
        var strength: Double
    }

    let patches: [Patch]
    /// So many of the patches are known over their whole extent.
    static let knownPatches = 60
    private static let earthRadiusKm = 6_371.0

    init(random: inout SplitMix64) {
        patches = (0..<360).map { _ in
            let z = random.double(in: -0.9...0.9)
            let longitude = random.double(in: -Double.pi...Double.pi)
            let r = (1 - z * z).squareRoot()
            return Patch(
                center: SIMD3(r * cos(longitude), r * sin(longitude), z),
                radiusKm: 120 * pow(6, random.double(in: 0...1)), strength: random.double(in: 0.3...1.25))
        }
    }

    func severity(at v: SIMD3<Double>) -> Severity {
        var roughness = 0.0
        for patch in patches {
            let cosine = (patch.center * v).sum()
            let reach = patch.radiusKm / Self.earthRadiusKm
            // Far away for most: 1 − cos α ≈ α²/2.
            let squared = 2 * (1 - cosine) / (reach * reach)
            if squared < 1 { roughness = max(roughness, patch.strength * (1 - squared)) }
        }
        let ragged = 0.08 * (sin(v.x * 173 + v.y * 91) + sin(v.y * 197 - v.z * 83) + sin(v.z * 211 + v.x * 67))
        switch roughness + (roughness > 0 ? ragged : 0) {
        case ..<0.18: return .smooth
        case ..<0.4: return .light
        case ..<0.6: return .lightModerate
        case ..<0.85: return .moderate
        default: return .moderateSevere
        }
    }
}

/// One aircraft's way between two airports, and the cells that it reports.
struct Flight {
    private let start: SIMD3<Double>
    private let end: SIMD3<Double>
    private let bend: Double
    private let isWide: Bool

    /// nil for two airports that nobody flies between.
    init?(random: inout SplitMix64) {
        let from = Self.airports[Int(random.next() % UInt64(Self.airports.count))]
        let to = Self.airports[Int(random.next() % UInt64(Self.airports.count))]
        start = World.vector(Self.near(from, &random))
        end = World.vector(Self.near(to, &random))
        bend = random.double(in: -0.05...0.05)
        isWide = random.next() % 4 == 0
        let distance = acos(min(max((start * end).sum(), -1), 1))
        guard distance > 0.05, distance < 2.2 else { return nil }
    }

    /// Every cell on the way, and for some flights those beside it.
    func visit(_ body: (Cell) -> Void) {
        let angle = acos(min(max((start * end).sum(), -1), 1))
        let normal = SIMD3(
            start.y * end.z - start.z * end.y, start.z * end.x - start.x * end.z, start.x * end.y - start.y * end.x)
        let length = (normal * normal).sum().squareRoot()
        guard length > 0 else { return }
        let steps = Int(angle / 0.0013)
        for step in 0...steps {
            let t = Double(step) / Double(max(steps, 1))
            var v = (start * sin((1 - t) * angle) + end * sin(t * angle)) / sin(angle)
            v += normal / length * (bend * sin(.pi * t))
            v /= (v * v).sum().squareRoot()
            let cell = H3.cell(at: World.place(v))
            if isWide { H3.disk(around: cell, distance: 1).forEach(body) } else { body(cell) }
        }
    }

    /// Many airports lie around every hub.
    private static func near(_ hub: (Double, Double), _ random: inout SplitMix64) -> LonLat {
        let longitude = hub.0 + random.double(in: -6...6)
        let latitude = min(max(hub.1 + random.double(in: -4...4), -80), 80)
        guard let place = LonLat(longitude: longitude, latitude: latitude) else {
            preconditionFailure("hubs lie on earth")
        }
        return place
    }

    /// Longitude, latitude: hubs, those with more traffic more than once.
    private static let airports: [(Double, Double)] = [
        (-73.8, 40.6), (-73.8, 40.6), (-84.4, 33.6), (-84.4, 33.6), (-87.9, 42.0), (-87.9, 42.0), (-97.0, 32.9),
        (-97.0, 32.9), (-104.7, 39.9), (-118.4, 33.9), (-118.4, 33.9), (-122.4, 37.6), (-122.3, 47.4), (-80.3, 25.8),
        (-79.6, 43.7), (-99.1, 19.4), (-0.5, 51.5), (-0.5, 51.5), (2.5, 49.0), (2.5, 49.0), (8.6, 50.0), (8.6, 50.0),
        (4.8, 52.3), (-3.6, 40.5), (12.2, 41.8), (28.8, 41.3), (37.4, 55.9), (24.9, 60.3), (55.4, 25.3), (55.4, 25.3),
        (77.1, 28.6), (72.9, 19.1), (100.7, 13.7), (104.0, 1.4), (114.0, 22.3), (116.6, 40.1), (121.8, 31.1),
        (121.8, 31.1), (126.4, 37.5), (139.8, 35.6), (139.8, 35.6), (151.2, -33.9), (174.8, -37.0), (-157.9, 21.3),
        (-46.5, -23.4), (-58.5, -34.8), (-77.1, -12.0), (28.2, -26.1), (36.9, -1.3), (31.4, 30.1), (3.3, 6.6),
        (-21.9, 64.1), (-149.9, 61.2), (177.4, -17.8),
    ]
}

/// Source: SplitMix64, S. Vigna, prng.di.unimi.it/splitmix64.c
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    mutating func double(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(next() >> 11) / Double(1 << 53)
    }
}
