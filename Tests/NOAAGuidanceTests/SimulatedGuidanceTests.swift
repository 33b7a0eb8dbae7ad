import Foundation
import GRIBKit
import Geometry
import Testing

@testable import NOAAGuidance
@testable import UpstreamSimulator

@Suite("The simulated world's guidance")
struct SimulatedGuidanceTests {
    /// Every 24th point: 75 × 45 of them.
    private static let every = 24
    private static let run = testTime - testTime % 3_600
    private static let nowcast = SimulatedGuidanceFile(product: .gtgn, runSeconds: run)
    private static let forecast = SimulatedGuidanceFile(product: .gtg, runSeconds: run, leadHours: 3)

    private func field(_ bytes: [UInt8]) throws -> GRIBField {
        guard case .message(let message)? = GRIBMessages.items(in: bytes).first else {
            throw GRIBError.truncated(length: 0, found: bytes.count)
        }
        return try GRIBField(message)
    }

    @Test("a nowcast has 51 messages and a forecast 205, as NOAA's files do, each readable and what its name says")
    func whole() async throws {
        let content = SimulatedGuidance(seed: 7, extent: .whole, every: Self.every)
        #expect(content.messages(of: Self.nowcast).count == GuidanceProduct.gtgn.messageCount)
        #expect(content.messages(of: Self.forecast).count == GuidanceProduct.gtg.messageCount)
        for (file, packing) in [(Self.nowcast, GRIBPacking.Kind.jpeg2000), (Self.forecast, .complexWithDifferences)] {
            for message in content.messages(of: file) where message.level.hasPrefix("10668 ") {
                let field = try field(await content.bytes(of: message, in: file))
                let header = field.header
                let name = GuidanceParameter(
                    rawValue: "var discipline=0 parmcat=19 parm=\(header.parameter.number)")
                #expect(name == GuidanceParameter(rawValue: message.parameter) || header.parameter.number == 50)
                #expect(header.level == .altitude(AltitudeLevel(feet: 35_000)) && header.packing.kind == packing)
                #expect(header.referenceSeconds == Self.run && header.leadSeconds == file.leadHours * 3_600)
                #expect(header.hasBitmap && field.statistics.missing > 0 && field.statistics.negative == 0)
                #expect(header.grid == content.grid)
            }
        }
        let last = try #require(content.messages(of: Self.forecast).last)
        #expect(GuidanceLevel(rawValue: last.level) == .entireAtmosphere && last.parameter == "MXEDPRM")
    }

    @Test("packing keeps a value to within 0.005, and missing ones missing", arguments: [nowcast, forecast])
    func packing(file: SimulatedGuidanceFile) async throws {
        let content = SimulatedGuidance(seed: 7, every: Self.every)
        let messages = content.messages(of: file)
        for message in [messages[5], messages[12], messages[messages.count - 1]] {
            let field = try field(await content.bytes(of: message, in: file))
            var feet: Int?
            if case .altitude(let level) = field.header.level { feet = level.feet }
            let made = content.edrs(of: file, altitudeFeet: feet)
            let isKept = zip(made, field.values).allSatisfy { made, read in
                made.isNaN ? read.isNaN : abs(made - read) < 0.005_01
            }
            #expect(isKept, "\(message)")
        }
    }

    @Test("the column is the largest of the file's levels, whether they were made before it or not")
    func column() async throws {
        let content = SimulatedGuidance(seed: 7, every: Self.every)
        let column = content.edrs(of: Self.forecast, altitudeFeet: nil)
        for feet in stride(from: 10_000, through: 44_000, by: 2_000) {
            let level = content.edrs(of: Self.forecast, altitudeFeet: feet)
            #expect(zip(level, column).allSatisfy { $0.isNaN || $0 <= $1 })
        }
        let again = content.edrs(of: Self.forecast, altitudeFeet: nil)
        #expect(zip(column, again).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN })
    }

    @Test("values are like those of real guidance at cruising levels") func climate() {
        let content = SimulatedGuidance(seed: 1, every: 12)
        var values: [Float] = []
        for hours in 0..<4 {
            let file = SimulatedGuidanceFile(product: .gtgn, runSeconds: Self.run + hours * 14_400)
            values += content.edrs(of: file, altitudeFeet: 34_000).filter { !$0.isNaN }
        }
        values.sort()
        func percentile(_ part: Double) -> Float { values[Int(Double(values.count - 1) * part)] }
        // Seen: 0.07, 0.11, 0.18 and 0.24.
        #expect((0.05...0.09).contains(percentile(0.5)), "\(percentile(0.5))")
        #expect((0.09...0.15).contains(percentile(0.9)), "\(percentile(0.9))")
        #expect((0.14...0.24).contains(percentile(0.99)), "\(percentile(0.99))")
        #expect((0.19...0.35).contains(percentile(0.999)), "\(percentile(0.999))")
    }

    @Test("a strip at the border is missing, and low levels below the ground") func missing() {
        let content = SimulatedGuidance(seed: 7, every: 12)
        func share(_ feet: Int) -> Double {
            let values = content.edrs(of: Self.nowcast, altitudeFeet: feet)
            return Double(values.count(where: \.isNaN)) / Double(values.count)
        }
        #expect((0.02...0.05).contains(share(34_000)))
        #expect((0.5...0.75).contains(share(100)))
        #expect(share(5_000) > share(34_000) && share(5_000) < share(100))
    }

    @Test("where the world's aircraft report turbulence the guidance has more than elsewhere, and it moves with time")
    func agreement() throws {
        let content = SimulatedGuidance(seed: 7, every: Self.every)
        let projection = try GridProjection(content.grid)
        var inside: [Float] = []
        var all: [Float] = []
        for hours in 0..<4 {
            let time = Self.run + hours * 7_200
            let file = SimulatedGuidanceFile(product: .gtgn, runSeconds: time)
            let values = content.edrs(of: file, altitudeFeet: 34_000)
            all += values.filter { !$0.isNaN }
            let slots = (time - World.longestPatch) / World.slotSeconds...time / World.slotSeconds
            for patch in slots.flatMap({ World.patches(slot: $0, seed: 7) }) where patch.isAlive(at: time) {
                let now = patch.state(at: time)
                guard now.edr(longitude: now.longitude, latitude: now.latitude, altitudeFeet: 34_000) > 0.2,
                    let place = LonLat(longitude: now.longitude, latitude: now.latitude),
                    let position = projection.index(of: place)
                else { continue }
                let value = values[Int(position.y.rounded()) * content.grid.columns + Int(position.x.rounded())]
                if !value.isNaN { inside.append(value) }
            }
        }
        all.sort()
        try #require(inside.count >= 5)
        let usual = all[all.count / 2]
        #expect(inside.allSatisfy { $0 > usual }, "\(inside) against \(usual)")
        #expect(inside.reduce(0, +) / Float(inside.count) > 0.12)
        let later = content.edrs(
            of: SimulatedGuidanceFile(product: .gtgn, runSeconds: Self.run + 10_800), altitudeFeet: 34_000)
        #expect(later != content.edrs(of: Self.nowcast, altitudeFeet: 34_000))
    }

    @Test("a forecast for the same time is like the nowcast, the more so the shorter its lead") func forecasts() {
        let content = SimulatedGuidance(seed: 7, every: Self.every)
        let valid = Self.run + 18 * 3_600
        func difference(_ lead: Int) -> Float {
            let nowcast = content.edrs(
                of: SimulatedGuidanceFile(product: .gtgn, runSeconds: valid), altitudeFeet: 34_000)
            let forecast = content.edrs(
                of: SimulatedGuidanceFile(product: .gtg, runSeconds: valid - lead * 3_600, leadHours: lead),
                altitudeFeet: 34_000)
            let differences = zip(nowcast, forecast).map { abs($0 - $1) }.filter { !$0.isNaN }
            return differences.reduce(0, +) / Float(differences.count)
        }
        #expect(difference(1) < difference(18))
        #expect(difference(18) < 0.03)
    }
}
