import AviationFormats
import BillowExchange
import Foundation
import Turbulence

/// Files of real reports; `Fixtures/README.md` says where they come from.
enum Fixture: String, CaseIterable {
    case florida = "pirep_json_florida_2026-07-21T20Z.json"
    case northEast = "pirep_geojson_ne_us_2026-08-04_subset.geojson"
    case severe = "pirep_geojson_severe_conus_2026-08-04.geojson"
    case adds = "aircraftreports_rows_2022-09-01.csv"
    case sigmets = "airsigmet_json_2026-07-21T20Z.json"
    case gairmets = "gairmet_json_fore00_2026-07-21T21Z.json"
    case internationalSigmets = "isigmet_json_2026-09-27_subset.json"
    case oldGairmets = "old-units_usa_airmets_2025-01-26T1624.geojson"
    case pulledGairmets = "usa_airmets_2025-12-19T0218.geojson"
    case pulledSigmets = "usa_sigmets_2025-12-19T0218.geojson"
    case laterSigmets = "usa_sigmets_2025-12-19T0642.geojson"

    func data() throws -> Data {
        try Data(contentsOf: Bundle.module.bundleURL.appending(path: "Fixtures/\(rawValue)"))
    }
}

/// The clock of the tests: after every fixture.
let testNow = Instant(clamping: 1_795_228_200)  // 2026-11-21T02:30:00Z

/// Reads bytes in pieces of a size (all at once by default).
func importing(
    _ bytes: some Collection<UInt8>, now: Instant = testNow, pieces: Int = .max, fileName: String? = nil
) -> (
    items: [ImportItem], summary: ImportSummary
) {
    var reader = ImportReader(now: now, fileName: fileName)
    var items: [ImportItem] = []
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
        items += reader.read(rest.prefix(pieces))
        rest = rest.dropFirst(pieces)
    }
    items += reader.finish()
    return (items, reader.summary)
}

func importing(_ text: String, now: Instant = testNow, pieces: Int = .max) -> (
    items: [ImportItem], summary: ImportSummary
) { importing(text.utf8, now: now, pieces: pieces) }

extension [ImportItem] {
    var observations: [Observation] {
        compactMap { if case .observation(let observation) = $0 { observation } else { nil } }
    }
    var pilotReports: [PilotReport] {
        compactMap { if case .pilotReport(let report, _) = $0 { report } else { nil } }
    }
    var placed: [Observation] {
        flatMap { item -> [Observation] in if case .pilotReport(_, let observations) = item { observations } else { [] }
        }
    }
    var refusals: [RefusedRecord] { compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } } }
}

extension HazardDecoder.Outcome {
    /// The refused records by the words for people.
    var refusedByText: [String: Int] { Dictionary(uniqueKeysWithValues: refused.map { ("\($0.key)", $0.value) }) }
}

extension PilotReportDecoder.Outcome {
    /// The refused records by the words for people.
    var refusedByText: [String: Int] { Dictionary(uniqueKeysWithValues: refused.map { ("\($0.key)", $0.value) }) }
}
