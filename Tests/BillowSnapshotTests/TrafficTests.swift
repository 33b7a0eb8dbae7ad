import Geometry
import Testing
import Turbulence

@testable import BillowSnapshot

private let noon = Instant(clamping: 1_795_262_400)

private func position(_ address: UInt32, at seconds: Int, source: String = "a") throws -> AircraftPosition {
    AircraftPosition(
        icao24: try #require(ICAO24(rawValue: address)), place: try #require(LonLat(longitude: 0, latitude: 0)),
        source: try #require(SourceID(source)), observedAt: noon.advanced(by: seconds))
}

@Suite("Aircraft at an instant")
struct TrafficTests {
    private func snapshot(_ positions: [AircraftPosition], asOf seconds: Int) -> Snapshot {
        Snapshot(
            publication: Publication(version: Version(rawValue: 7), asOf: noon.advanced(by: seconds)), log: "test",
            window: Window(), liveFrom: noon.advanced(by: -3_600), sources: [],
            lifetimes: DataLifetimes(retentionSeconds: 86_400), severityTable: SeverityTable(),
            traffic: Traffic(positions, asOf: noon.advanced(by: seconds)))
    }

    @Test("an aircraft is dropped some time after it was seen", arguments: [(179, true), (180, false)])
    func anAircraftIsDroppedSomeTimeAfterItWasSeen(age: Int, isShown: Bool) throws {
        let snapshot = snapshot([try position(1, at: 0)], asOf: age)
        let shown = try #require(snapshot.positions(at: noon.advanced(by: age), droppedAfterSeconds: 180))
        #expect(shown.isEmpty != isShown)
    }

    @Test("only the newest counts whatever the order of arrival")
    func onlyTheNewestCountsWhateverTheOrderOfArrival() throws {
        let positions = [try position(1, at: 20), try position(1, at: 10), try position(2, at: 5)]
        let expected = [positions[0], positions[2]]
        for order in [positions, positions.reversed()] {
            #expect(
                snapshot(order, asOf: 30).positions(at: noon.advanced(by: 30), droppedAfterSeconds: 180) == expected)
        }
        let twins = [try position(3, at: 0, source: "b"), try position(3, at: 0, source: "a")]
        for order in [twins, twins.reversed()] {
            #expect(
                snapshot(order, asOf: 1).positions(at: noon.advanced(by: 1), droppedAfterSeconds: 180) == [twins[1]])
        }
    }

    @Test("a position with a time ahead leaves all others and its own aircraft's earlier one until its time has come")
    func ahead() throws {
        let (own, early, other) = (try position(1, at: 250), try position(1, at: -10), try position(2, at: -5))
        let orders = [[own, early, other], [other, early, own], [early, own, other]]
        for order in orders {
            var traffic = Traffic()
            traffic.advance(to: noon)
            traffic.update(order)
            for seconds in 0..<249 {
                let now = noon.advanced(by: seconds)
                traffic.advance(to: now)
                let shown = try #require(traffic.positions(at: now, droppedAfterSeconds: 600))
                #expect(shown == [early, other], "\(seconds)")
            }
            traffic.advance(to: noon.advanced(by: 250))
            #expect(traffic.positions(at: noon.advanced(by: 250), droppedAfterSeconds: 300) == [own, other])
            #expect(traffic.count == 2)
        }
        #expect(
            snapshot([own, early, other], asOf: 0).positions(at: noon, droppedAfterSeconds: 180) == [early, other])
    }

    @Test("unknown positions are not guessed")
    func whatIsNotRememberedIsNotGuessed() throws {
        let snapshot = snapshot([try position(1, at: 20)], asOf: 30)
        #expect(snapshot.positions(at: noon.advanced(by: 19), droppedAfterSeconds: 180) == nil)
        #expect(snapshot.positions(at: noon.advanced(by: 30), droppedAfterSeconds: 601) == nil)
    }
}
