import Foundation
import Testing
import Turbulence

@testable import BillowRaster

/// How different two colours look: CIE Lab (D65) and CIEDE2000, and how they look without one kind of cone.
enum ColourDistance {
    struct Lab { let l, a, b: Double }

    /// Who looks. Matrices on linear sRGB, severity 1.0.
    ///
    /// Source: Machado, Oliveira, Fernandes 2009, "A physiologically-based model for simulation of color vision
    /// deficiency", doi:10.1109/TVCG.2009.113, table 1
    enum Vision: CaseIterable {
        case normal, protanopia, deuteranopia, tritanopia

        var matrix: [[Double]] {
            switch self {
            case .normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            case .protanopia:
                [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
            case .deuteranopia:
                [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
            case .tritanopia:
                [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
            }
        }
    }

    /// What is seen where `colour` lies over an opaque `background` (blended in sRGB, as browsers do).
    static func lab(_ colour: StraightColour, over background: StraightColour, vision: Vision) -> Lab {
        let alpha = Double(colour.alpha) / 255
        let channels = [
            (colour.red, background.red), (colour.green, background.green), (colour.blue, background.blue),
        ].map { linear((Double($0) * alpha + Double($1) * (1 - alpha)) / 255) }
        let seen = multiply(vision.matrix, channels).map { min(max($0, 0), 1) }
        return lab(linear: seen)
    }

    /// Source: IEC 61966-2-1
    private static func linear(_ c: Double) -> Double { c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4) }

    private static func multiply(_ matrix: [[Double]], _ v: [Double]) -> [Double] {
        matrix.map { $0[0] * v[0] + $0[1] * v[1] + $0[2] * v[2] }
    }

    private static func lab(linear rgb: [Double]) -> Lab {
        let xyz = multiply(
            [
                [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                [0.0193339, 0.1191920, 0.9503041],
            ], rgb)
        let f = zip(xyz, [0.95047, 1, 1.08883]).map { value, white in
            let t = value / white
            return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116
        }
        return Lab(l: 116 * f[1] - 16, a: 500 * (f[0] - f[1]), b: 200 * (f[1] - f[2]))
    }

    /// CIEDE2000 with all weights 1: about 1 is just noticeable side by side.
    ///
    /// Source: Sharma, Wu, Dalal 2005, "The CIEDE2000 color-difference formula", doi:10.1002/col.20070
    static func between(_ p: Lab, _ q: Lab) -> Double {
        func degrees(_ radians: Double) -> Double { radians * 180 / .pi }
        func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
        let meanChroma = (hypot(p.a, p.b) + hypot(q.a, q.b)) / 2
        let g = 0.5 * (1 - sqrt(pow(meanChroma, 7) / (pow(meanChroma, 7) + pow(25, 7))))
        let (a1, a2) = (p.a * (1 + g), q.a * (1 + g))
        let (c1, c2) = (hypot(a1, p.b), hypot(a2, q.b))
        func hue(_ a: Double, _ b: Double) -> Double {
            let h = degrees(atan2(b, a))
            return h < 0 ? h + 360 : h
        }
        let (h1, h2) = (c1 == 0 ? 0 : hue(a1, p.b), c2 == 0 ? 0 : hue(a2, q.b))
        let grey = c1 * c2 == 0
        var dh = grey ? 0 : h2 - h1
        if dh > 180 { dh -= 360 } else if dh < -180 { dh += 360 }
        var h = h1 + h2
        if !grey { h = abs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2 }
        let (l, c) = ((p.l + q.l) / 2, (c1 + c2) / 2)
        let t =
            1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) - 0.20 * cosine(4 * h - 63)
        let rotation = 30 * exp(-pow((h - 275) / 25, 2))
        let rc = 2 * sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)))
        let (sl, sc, sh) = (1 + 0.015 * pow(l - 50, 2) / sqrt(20 + pow(l - 50, 2)), 1 + 0.045 * c, 1 + 0.015 * c * t)
        let (dl, dc, dH) = ((q.l - p.l) / sl, (c2 - c1) / sc, 2 * sqrt(c1 * c2) * sin(dh / 2 * .pi / 180) / sh)
        return sqrt(dl * dl + dc * dc + dH * dH - sin(2 * rotation * .pi / 180) * rc * dc * dH)
    }
}

@Suite("Colour distance")
struct ColourDistanceTests {
    @Test(
        "CIEDE2000 gives the published values",
        arguments: [
            ([50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425), ([50, 3.1571, -77.2803], [50, 0, -82.7485], 2.8615),
            ([50, 0, 0], [50, -1, 2], 2.3669), ([50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792),
            ([50, 2.5, 0], [73, 25, -18], 27.1492), ([50, 2.5, 0], [58, 24, 15], 19.4535),
            ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
            ([2.0776, 0.0795, -1.1350], [0.9033, -0.0636, -0.5514], 0.9082),
        ] as [([Double], [Double], Double)])
    func sharma(_ p: [Double], _ q: [Double], _ expected: Double) {
        let distance = ColourDistance.between(.init(l: p[0], a: p[1], b: p[2]), .init(l: q[0], a: q[1], b: q[2]))
        #expect(abs(distance - expected) < 0.0001)
    }

    static let white = StraightColour(red: 255, green: 255, blue: 255)
    static let grey = StraightColour(red: 0xDD, green: 0xE3, blue: 0xE8)
    static let dark = StraightColour(red: 0x14, green: 0x18, blue: 0x1D)

    static func least(_ style: Style, over map: StraightColour, vision: ColourDistance.Vision) -> Double {
        let seen = Severity.allCases.map {
            ColourDistance.lab(style[$0].fill.colour, over: map, vision: vision)
        }
        var least = Double.infinity
        for i in seen.indices { for j in 0..<i { least = min(least, ColourDistance.between(seen[i], seen[j])) } }
        return least
    }

    /// Style, maps it is for, least distance with all cones, least distance without one kind.
    @Test(
        "the five severities stay apart, with all cones and without one kind",
        arguments: [
            ("colour-blind", [white, grey, dark], 24, 17), ("high-contrast", [white, grey, dark], 28, 11),
            ("day", [white, grey], 22, 6), ("night", [dark], 16, 7), ("skypath", [white, grey, dark], 13, 6),
            ("skypath-web", [white, grey], 12, 5),
            // Without the patterns, which small cells have no room for.
            ("print", [white, grey], 9, 9),
        ] as [(String, [StraightColour], Double, Double)])
    func apart(_ id: String, _ maps: [StraightColour], _ normal: Double, _ deficient: Double) throws {
        let style = try #require(try StyleLibrary(folder: stylesFolder)[id])
        for map in maps {
            for vision in ColourDistance.Vision.allCases {
                let least = ColourDistanceTests.least(style, over: map, vision: vision)
                #expect(
                    least >= (vision == .normal ? normal : deficient), "\(vision) over \(map.hexadecimal): \(least)")
            }
        }
    }

    @Test(
        "in the colour-blind and print styles worse is darker for everyone on a light map; at night worse is brighter")
    func lightness() throws {
        let library = try StyleLibrary(folder: stylesFolder)
        for (id, map, sign) in [
            ("colour-blind", ColourDistanceTests.white, -1.0), ("print", ColourDistanceTests.white, -1),
            ("night", ColourDistanceTests.dark, 1),
        ] {
            let style = try #require(library[id])
            for vision in id == "night" ? [.normal] : ColourDistance.Vision.allCases {
                let lightness = Severity.allCases.map {
                    ColourDistance.lab(style[$0].fill.colour, over: map, vision: vision).l * sign
                }
                #expect(
                    zip(lightness, lightness.dropFirst()).allSatisfy { $0 + 2 < $1 }, "\(id) \(vision) \(lightness)")
            }
        }
    }
}
