import Foundation
import TestSupport
import Testing
import Turbulence

@Suite("An instant")
struct InstantTests {
    @Test(
        "reads ISO 8601 with a zone",
        arguments: [
            ("2026-11-21T02:30:00Z", 1_795_228_200), ("20261121T023000Z", 1_795_228_200),
            ("20261121T02:30:00Z", 1_795_228_200), ("2026-11-21t02:30:00z", 1_795_228_200),
            ("2026-11-21 02:30:00Z", 1_795_228_200), ("2026-11-21T03:30:00+01:00", 1_795_228_200),
            ("2026-11-20T21:00:00-0530", 1_795_228_200), ("2026-11-21T02:30:00+00", 1_795_228_200),
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00Z", 951_825_600), ("2105-12-31T23:59:59Z", 4_291_747_199),
        ])
    func reads(text: String, seconds: Int) {
        #expect(Instant(text)?.seconds == seconds)
    }

    @Test(
        "refuses everything else",
        arguments: [
            "", "latest", "2026-11-21", "2026-11-21T02:30:00", "2026-11-21T02:30Z", "2026-11-21T02:30:60Z",
            "2026-11-21T24:00:00Z", "2026-11-21T02:60:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-00T00:00:00Z", "1900-02-29T00:00:00Z",
            "99999-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2106-01-01T00:00:00Z", "2026-11-21T02:30:00.5Z",
            "2026-11-21T02:30:00+19:00", "2026-11-21T02:30:00Zx", " 2026-11-21T02:30:00Z", "-026-11-21T02:30:00Z",
            "２０２６-11-21T02:30:00Z", "2026-11-21T02:30:00 +01:00",
        ])
    func refuses(text: String) {
        #expect(Instant(text) == nil)
    }

    @Test("a fraction of a second is cut off where it is allowed")
    func fraction() {
        #expect(Instant("2026-11-21T02:30:00.999Z", fraction: true)?.seconds == 1_795_228_200)
        #expect(Instant("2026-11-21T02:30:00.Z", fraction: true) == nil)
    }

    @Test("text round-trips, and equals Foundation's")
    func roundTrip() {
        var random = SeededGenerator(seed: 7)
        let formatter = ISO8601DateFormatter()
        for _ in 0..<500 {
            let instant = Instant(clamping: .random(in: Instant.range, using: &random))
            #expect(Instant(instant.description) == instant)
            #expect(Instant(instant.compact) == instant)
            #expect(formatter.string(from: instant.date) == instant.description)
        }
    }

    @Test("arithmetic stays in range, whatever is added")
    func arithmetic() {
        #expect(Instant.distantFuture.advanced(by: .max) == .distantFuture)
        #expect(Instant.distantPast.advanced(by: .min) == .distantPast)
        #expect(Instant(clamping: 125).advanced(by: -5).floored(toMultipleOf: 60).seconds == 120)
        #expect(Instant(seconds: -1) == nil)
        #expect(Instant(Date(timeIntervalSince1970: .infinity)) == .distantFuture)
        #expect(Instant(Date(timeIntervalSince1970: -.infinity)) == .distantPast)
        #expect(Instant(Date(timeIntervalSince1970: .nan)) == .distantPast)
    }
}
