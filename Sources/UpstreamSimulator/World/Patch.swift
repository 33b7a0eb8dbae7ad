import Foundation
import Geometry

/// A body of turbulent air: an ellipse on the map with an altitude range, gradually stronger towards its core. It
/// drifts and lives for hours.
struct Patch: Sendable {
    /// The times of birth and death in Unix seconds.
    let birth: Int
    let death: Int
    private let birthLongitude: Double
    /// The jet stream along which it drifts, or its own latitude.
    private let band: JetBand?
    private let latitude: Double
    private let degreesPerSecond: Double
    private let alongKm: Double
    private let acrossKm: Double
    private let tilt: Double
    private let altitudeFeet: Double
    private let halfDepthFeet: Double
    private let peakEDR: Double

    /// Makes a body along a jet stream at cruising levels, which drifts eastward.
    init(jetBornAt birth: Int, random: inout SeededRandom) {
        self.birth = birth
        death = birth + Int(random.between(2.5, 7.5) * 3_600)
        birthLongitude = random.between(-180, 180)
        let band = JetBand.all[Int(random.between(0, 4))]
        self.band = band
        latitude = random.bell() * 3.5
        let metresPerSecond = random.between(12, 32)
        degreesPerSecond = metresPerSecond / (111_195 * cos(band.meanLatitude * .pi / 180))
        alongKm = random.between(250, 800)
        acrossKm = random.between(90, 260)
        tilt = random.bell() * 0.3
        altitudeFeet = random.between(29_000, 40_000)
        halfDepthFeet = random.between(4_000, 9_000)
        peakEDR = min(0.75, 0.19 * exp(random.bell() * 0.6))
    }

    /// Makes a convective body in the tropics: small, deep, short-lived, strong at the core.
    init(convectiveBornAt birth: Int, random: inout SeededRandom) {
        self.birth = birth
        death = birth + Int(random.between(1.2, 3.5) * 3_600)
        birthLongitude = random.between(-180, 180)
        band = nil
        latitude = 4 + random.bell() * 9
        degreesPerSecond = -random.between(1, 7) / 111_195
        alongKm = random.between(90, 280)
        acrossKm = alongKm * random.between(0.6, 1)
        tilt = random.between(0, .pi)
        altitudeFeet = random.between(26_000, 38_000)
        halfDepthFeet = random.between(6_000, 14_000)
        peakEDR = min(0.8, 0.27 * exp(random.bell() * 0.55))
    }

    /// Whether it drifts along a jet stream; otherwise it is convective.
    var isJet: Bool { band != nil }

    func isAlive(at time: Int) -> Bool { time >= birth && time < death }

    /// The body at one instant, for the many reports of a minute.
    struct Snapshot: Sendable {
        let longitude: Double
        let latitude: Double
        let reachDegrees: Double
        let kmPerDegreeLongitude: Double
        let cosTilt: Double
        let sinTilt: Double
        let inverseAlong: Double
        let inverseAcross: Double
        let altitudeFeet: Double
        let inverseDepth: Double
        let strength: Double

        /// The outline with twelve corners, closed, longitudes −180…180.
        var outline: [(longitude: Double, latitude: Double)] {
            (0...12).map { corner in
                let angle = Double(corner % 12) * .pi / 6
                let along = cos(angle) / inverseAlong
                let across = sin(angle) / inverseAcross
                let east = along * cosTilt - across * sinTilt
                let north = along * sinTilt + across * cosTilt
                return (
                    LonLat.wrap(longitude + east / kmPerDegreeLongitude),
                    min(89, max(-89, latitude + north / Snapshot.kmPerDegree))
                )
            }
        }

        /// The EDR that the body adds at a place and an altitude; 0 outside it.
        func edr(longitude: Double, latitude: Double, altitudeFeet: Double) -> Double {
            let north = latitude - self.latitude
            guard abs(north) < reachDegrees else { return 0 }
            let up = (altitudeFeet - self.altitudeFeet) * inverseDepth
            guard abs(up) < 1 else { return 0 }
            var east = longitude - self.longitude
            if east > 180 { east -= 360 } else if east < -180 { east += 360 }
            let eastKm = east * kmPerDegreeLongitude
            let northKm = north * Snapshot.kmPerDegree
            let along = (eastKm * cosTilt + northKm * sinTilt) * inverseAlong
            let across = (northKm * cosTilt - eastKm * sinTilt) * inverseAcross
            let radius = along * along + across * across
            guard radius < 1 else { return 0 }
            // A smooth profile: flat in the middle, zero at the edge.
            return strength * (1 - radius * radius) * (1 - up * up)
        }

        static let kmPerDegree = 111.195
    }

    func state(at time: Int) -> Snapshot {
        let age = Double(time - birth)
        let longitude = LonLat.wrap(
            (birthLongitude + degreesPerSecond * age).truncatingRemainder(dividingBy: 360))
        let center = min(
            80, max(-80, (band?.latitude(longitude: longitude, time: time) ?? 0) + latitude))
        // It grows in the first fifth of its life and weakens in the last.
        let part = age / Double(death - birth)
        let strength = peakEDR * min(1, part * 5, (1 - part) * 5)
        return Snapshot(
            longitude: longitude, latitude: center,
            reachDegrees: max(alongKm, acrossKm) / Snapshot.kmPerDegree,
            kmPerDegreeLongitude: Snapshot.kmPerDegree * cos(center * .pi / 180), cosTilt: cos(tilt),
            sinTilt: sin(tilt),
            inverseAlong: 1 / alongKm, inverseAcross: 1 / acrossKm, altitudeFeet: altitudeFeet,
            inverseDepth: 1 / halfDepthFeet, strength: strength)
    }
}

/// All bodies of an instant, indexed by bands of latitude so that a report tests only a few.
struct Air: Sendable {
    private static let bandDegrees = 4.0
    private static let bands = Int(180 / bandDegrees)
    private var patches: [[Patch.Snapshot]]

    init(_ all: [Patch.Snapshot]) {
        patches = Array(repeating: [], count: Air.bands)
        for patch in all {
            let south = Air.band(patch.latitude - patch.reachDegrees)
            let north = Air.band(patch.latitude + patch.reachDegrees)
            for band in south...max(south, north) { patches[band].append(patch) }
        }
    }

    private static func band(_ latitude: Double) -> Int {
        min(bands - 1, Int((min(90, max(-90, latitude)) + 90) / bandDegrees))
    }

    /// The EDR of the strongest body at a place, 0 outside all.
    func edr(longitude: Double, latitude: Double, altitudeFeet: Double) -> Double {
        var strongest = 0.0
        for patch in patches[Air.band(latitude)] {
            strongest = max(
                strongest, patch.edr(longitude: longitude, latitude: latitude, altitudeFeet: altitudeFeet))
        }
        return strongest
    }
}

/// A jet stream: a latitude that varies with longitude in waves, which move slowly eastward.
struct JetBand: Sendable {
    let meanLatitude: Double
    private let amplitude: Double
    private let waves: Double
    private let phase: Double

    /// The polar and the subtropical jet of each hemisphere.
    static let all: [JetBand] = [
        JetBand(meanLatitude: 49, amplitude: 7, waves: 4, phase: 0.4),
        JetBand(meanLatitude: 33, amplitude: 4, waves: 3, phase: 1.9),
        JetBand(meanLatitude: -48, amplitude: 5, waves: 4, phase: 2.7),
        JetBand(meanLatitude: -30, amplitude: 3, waves: 3, phase: 0.9),
    ]

    /// The eastward movement of the waves in degrees per day.
    private static let waveDegreesPerDay = 8.0

    func latitude(longitude: Double, time: Int) -> Double {
        let days = Double(time % (86_400 * 360)) / 86_400
        let moved = longitude - JetBand.waveDegreesPerDay * days
        return meanLatitude + amplitude * sin(waves * moved * .pi / 180 + phase)
    }
}
