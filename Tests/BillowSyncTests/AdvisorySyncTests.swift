import AviationWeather
import BillowStore
import Datasets
import Foundation
import Testing
import Turbulence

@testable import BillowSync
@testable import UpstreamSimulator

/// Center Weather Advisories from the simulated service: nothing in the sync names them.
@Suite("Advisories in the store") struct AdvisorySyncTests {
    @Test("the simulator has every product that the catalogue has from aviationweather.gov")
    func simulated() {
        #expect(AviationWeatherProduct.all.map(\.name) == Catalogue.types(of: AviationWeatherUpstream.kind))
    }

    @Test("a round brings advisories, marks their kind as fetched, and the hour after ends those that are gone")
    func round() async throws {
        try await withRig(flights: 5) { rig in
            let product = try #require(AviationWeatherUpstream.Product(rawValue: "cwa"))
            #expect(AviationWeatherUpstream.Product.all.contains(product))
            let clock = rig.clock
            let upstream = AviationWeatherUpstream(
                id: try #require(SourceID("awc")),
                client: try AviationWeatherClient(
                    configuration: AviationWeatherConfiguration(baseURL: rig.baseURL), httpClient: rig.http,
                    now: { clock.seconds1970 }),
                products: [product], spacingSeconds: 0, simulated: true, store: rig.store, retentionSeconds: 86_400)
            func valid() async throws -> [IssuedArea] {
                let now = rig.clock.now
                return try await rig.store.areas(.advisories, from: now, to: now.advanced(by: 1), asOf: nil)
            }
            _ = try await upstream.synchronise(now: rig.clock.now)
            let first = try await valid()
            #expect(!first.isEmpty && first.allSatisfy { $0.kind == "cwa" && $0.collection == .advisories })
            #expect(try await rig.store.source().fetchedKinds == [FeedKind(rawValue: "advisories"): rig.clock.now])
            rig.clock.advance(3_600)
            _ = try await upstream.synchronise(now: rig.clock.now)
            let second = try await valid()
            #expect(!second.isEmpty && second.allSatisfy { $0.validFrom > first[0].validFrom })
        }
    }
}
