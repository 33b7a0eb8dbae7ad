import Foundation
import TestSupport
import Testing

@testable import NOAAGuidance

@Suite("Addresses of files")
struct AddressTests {
    private static let table: [(GuidanceProduct, String, Int, String)] = [
        (.gtgn, "2026-09-24T12:45:00Z", 0, "gtgn/prod/gtgn.20260924/12/gtgn.t1245z.3km.grib2"),
        (.gtgn, "2026-12-31T23:45:00Z", 0, "gtgn/prod/gtgn.20261231/23/gtgn.t2345z.3km.grib2"),
        (.gtgn, "2027-01-01T00:00:00Z", 0, "gtgn/prod/gtgn.20270101/00/gtgn.t0000z.3km.grib2"),
        (.gtgn, "2028-02-29T00:15:00Z", 0, "gtgn/prod/gtgn.20280229/00/gtgn.t0015z.3km.grib2"),
        (.gtg, "2026-09-24T00:00:00Z", 0, "dafs/prod/dafs.20260924/dafs.t00z.gtg.3km.conus.f000.grib2"),
        (.gtg, "2026-12-31T23:00:00Z", 18, "dafs/prod/dafs.20261231/dafs.t23z.gtg.3km.conus.f018.grib2"),
    ]

    @Test("a file has one path, and the path has one file", arguments: table)
    func path(product: GuidanceProduct, run: String, lead: Int, path: String) throws {
        let seconds = Int(try Date(run, strategy: .iso8601).timeIntervalSince1970)
        let file = try #require(GuidanceFile(product: product, runSeconds: seconds, leadHours: lead))
        #expect(file.path == "/pub/data/nccf/com/" + path && file.indexPath == file.path + ".idx")
        #expect(GuidanceFile(path: file.path) == file)
        #expect(file.validSeconds == seconds + lead * 3_600)
    }

    @Test("every file of four years goes to its path and back, in the calendar's own words") func roundTrip() throws {
        var generator = SeededGenerator(seed: 15)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for _ in 0..<5_000 {
            let product = GuidanceProduct.allCases.randomElement(using: &generator) ?? .gtg
            let run = Int.random(in: 1_700_000_000..<1_900_000_000, using: &generator)
            let file = try #require(
                GuidanceFile(
                    product: product, runSeconds: run - run % product.cadenceSeconds,
                    leadHours: Int.random(in: product.leadHours, using: &generator)))
            #expect(GuidanceFile(path: file.path) == file)
            let time = calendar.dateComponents(
                [.year, .month, .day, .hour], from: Date(timeIntervalSince1970: Double(file.runSeconds)))
            let day = (time.year ?? 0) * 10_000 + (time.month ?? 0) * 100 + (time.day ?? 0)
            #expect(file.directory.contains(".\(day)/"))
        }
    }

    @Test(
        "a path that no file has is none",
        arguments: [
            "", "/", "gtgn/prod/gtgn.20260924/12/gtgn.t1245z.3km.grib2",
            "/pub/data/nccf/com/gtgn/prod/gtgn.20260924/13/gtgn.t1245z.3km.grib2",
            "/pub/data/nccf/com/gtgn/prod/gtgn.20260924/12/gtgn.t1250z.3km.grib2",
            "/pub/data/nccf/com/gtgn/prod/gtgn.20260924/12/gtgn.t1260z.3km.grib2",
            "/pub/data/nccf/com/gtgn/prod/gtgn.20260924/12/gtgn.t1245z.3km.grib2.idx",
            "/pub/data/nccf/com/gtgn/prod/gtgn.20260931/12/gtgn.t1245z.3km.grib2",
            "/pub/data/nccf/com/gtgn/prod/gtgn.20269924/12/gtgn.t1245z.3km.grib2",
            "/pub/data/nccf/com/gtgn/prod/gtgn.99999999/12/gtgn.t1245z.3km.grib2",
            "/pub/data/nccf/com/dafs/prod/dafs.20260924/dafs.t24z.gtg.3km.conus.f000.grib2",
            "/pub/data/nccf/com/dafs/prod/dafs.20260924/dafs.t00z.gtg.3km.conus.f019.grib2",
            "/pub/data/nccf/com/dafs/prod/dafs.20260924/dafs.t00z.gtg.3km.conus.f+01.grib2",
            "/pub/data/nccf/com/dafs/prod/dafs.20260924/../dafs.t00z.gtg.3km.conus.f001.grib2",
            "/pub/data/nccf/com/dafs/prod/dafs.20260924/dafs.t00z.gtg.13km.conus.f001.grib2",
            "/pub/data/nccf/com/hrrr/prod/hrrr.20260924/hrrr.t00z.f000.grib2", "/pub/data/nccf/com/gtgn////",
        ])
    func notAFile(path: String) { #expect(GuidanceFile(path: path) == nil) }

    @Test("a run off the cadence or a lead without a file is none") func impossible() {
        #expect(GuidanceFile(product: .gtgn, runSeconds: 900 * 7 + 1) == nil)
        #expect(GuidanceFile(product: .gtgn, runSeconds: 900, leadHours: 1) == nil)
        #expect(GuidanceFile(product: .gtg, runSeconds: 1_800) == nil)
        #expect(GuidanceFile(product: .gtg, runSeconds: 3_600, leadHours: 19) == nil)
        #expect(GuidanceFile(product: .gtg, runSeconds: -3_600) == nil)
        #expect(GuidanceFile(product: .gtg, runSeconds: .max) == nil)
    }

    @Test("candidates go backwards over midnight and the year's turn, and are bounded") func candidates() {
        // 2027-01-01T00:20:00Z.
        let now = 1_798_762_800
        let nowcasts = GuidanceProduct.gtgn.candidates(nowSeconds: now)
        #expect(nowcasts.map(\.runSeconds) == (0...8).map { now - 300 - $0 * 900 })
        #expect(nowcasts[1].path.contains("gtgn.20270101/00/gtgn.t0000z"))
        #expect(nowcasts[2].path.contains("gtgn.20261231/23/gtgn.t2345z"))
        #expect(GuidanceProduct.gtg.candidates(nowSeconds: now, leadHours: 6).count == 7)
        #expect(GuidanceProduct.gtgn.candidates(nowSeconds: now, afterRun: now - 300 - 900).count == 1)
        #expect(GuidanceProduct.gtgn.candidates(nowSeconds: now, afterRun: now - 300).isEmpty)
        #expect(GuidanceProduct.gtgn.candidates(nowSeconds: now, afterRun: now + 10_000).isEmpty)
    }
}
