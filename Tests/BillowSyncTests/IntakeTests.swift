import BillowStore
import Geometry
import SkyPath
import Testing
import Turbulence

@testable import BillowSync

@Suite("What the log takes of an answer")
struct IntakeTests {
    private let now = ManualClock().now

    private func record(
        _ severity: Int, edr: Double? = nil, at seconds: Int = 0, cell: Int = 20_000, altitude: Int = 36
    ) throws -> SkyPathRecord {
        try SkyPathRecord(
            cell: Cell(dense: cell).orMissing(), altitudeThousands: altitude, severity: severity, edr: edr,
            observedAt: now.seconds + seconds
        ).orMissing()
    }

    private func intake(_ records: [SkyPathRecord], severities: SeveritySet = .all) throws -> SkyPathIntake {
        var skipped: [SkipReason: Int] = [:]
        let intake = SkyPathIntake(
            records,
            SkyPathIntake.Rules(
                source: try skypath(), category: .default, severities: severities, area: nil,
                oldest: now.advanced(by: -86_400), latest: now.advanced(by: 300)), skipped: &skipped)
        #expect(skipped.isEmpty)
        return intake
    }

    private func place(_ cell: Int = 20_000) throws -> Retraction.ValueKey {
        Retraction.ValueKey(
            cell: UInt32(cell), altitude: AltitudeBand(try AltitudeBlock(thousands: 36).orMissing()), category: .default
        )
    }

    @Test("the order is that of time")
    func theOrderIsThatOfTime() throws {
        let times = [5, -7, 0, 3, -100, 2]
        let records = try times.map { try record($0 & 3, at: $0, cell: 20_000 + $0) }
        #expect(try intake(records).observations.map { $0.observedAt.seconds - now.seconds } == times.sorted())
    }

    /// Finer cells brought to one parent may disagree within a second; which comes last must not matter.
    @Test("of one place and second the worst counts")
    func ofOnePlaceAndSecondTheWorstCounts() throws {
        let some = [
            try record(1), try record(3, edr: 0.2), try record(3), try record(0, edr: 0.9), try record(3, edr: 0.3),
        ]
        for shift in some.indices {
            let observations = try intake(Array(some[shift...] + some[..<shift])).observations
            #expect(observations.map(\.intensity) == [.reported(.moderate, edr: EDR(0.3))])
        }
        // Other places and seconds are others.
        #expect(
            try intake([record(1), record(1, altitude: 37), record(1, cell: 20_001), record(1, at: 1)]).observations
                .count == 4)
    }

    @Test("of repeated places only the newest counts")
    func aRepeatedPlaceStandsAtItsNewest() throws {
        let intake = try intake([record(3, at: -60), record(0, at: -10), record(2, at: -30)])
        #expect(intake.observations.count == 3)
        #expect(try intake.standing == [place(): now.advanced(by: -10)])
        #expect(intake.newest == now.advanced(by: -10))
    }

    /// At its own time, so that pictures of before stay as they were.
    @Test("a severity that is not wanted is accepted without being shown")
    func aSeverityThatIsNotWantedIsTakenWithoutBeingShown() throws {
        let rough = SeveritySet.atLeast(.moderate)
        let intake = try intake(
            [record(3, at: -60), record(1, at: -10), record(4, at: -5, cell: 20_001)], severities: rough)
        #expect(intake.observations.map(\.kind) == [.inSitu, .superseding, .inSitu])
        #expect(intake.observations.map { $0.observedAt.seconds - now.seconds } == [-60, -10, -5])
        #expect(try intake.standing == [place(): now.advanced(by: -10), place(20_001): now.advanced(by: -5)])
    }

    @Test("an empty answer says nothing")
    func anEmptyAnswerSaysNothing() throws {
        let none = try intake([])
        #expect(none.observations.isEmpty && none.standing.isEmpty && none.newest == nil)
    }
}
