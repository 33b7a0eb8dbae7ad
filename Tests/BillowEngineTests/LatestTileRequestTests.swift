import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import EngineTestSupport
import Foundation
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Tiles that are drawn before they are requested")
struct LatestTileRequestTests {
    private static let now = Instant(clamping: 1_784_600_000)
    private let publication = Publication(version: Version(rawValue: 1), asOf: now)
    private let style: Style

    init() throws { style = try StyleLibrary(folder: World.repository.appending(path: "Styles").path).default }

    private func request(_ number: Int) throws -> TileRequest {
        TileRequest(
            layers: LayerList(.hexagons), coord: try TileCoord(z: 14, x: number, y: 0).orMissing(), scale: .one,
            instant: Self.now, filter: Filter(), style: style)
    }

    @Test("tiles that are requested again and again outlast any number of others")
    func frequent() throws {
        let requests = LatestTileRequests()
        func note(_ number: Int) throws -> Bool {
            requests.note(try request(number), isLatest: true, publication: publication, now: Self.now)
        }
        for number in 0..<10_000 {
            _ = try note(100 + number)
            if number.isMultiple(of: 100) { for frequent in 0..<10 { #expect(try note(frequent) == (number > 0)) } }
        }
        let kept = requests.requests(for: publication, limit: 10).map(\.coord.x)
        #expect(kept.sorted() == Array(0..<10))
        #expect(requests.requests(for: publication, limit: .max).count <= 2_000)
    }

    @Test("styles and filters with equal parts make equal requests")
    func equality() throws {
        let first = try request(3)
        let half = style.faded(by: 0.5)
        func faded(by factor: Double) -> TileRequest {
            TileRequest(
                layers: first.layers, coord: first.coord, scale: .one, instant: Self.now, filter: Filter(),
                style: style.faded(by: factor))
        }
        let same = try request(3)
        #expect(same == first && same.hashValue == first.hashValue)
        #expect(try request(4) != first)
        #expect(faded(by: 0.5) == faded(by: 0.5) && faded(by: 0.5).hashValue == faded(by: 0.5).hashValue)
        #expect(faded(by: 0.5) != first && faded(by: 0.5).style == half)
    }
}
