import BillowTiles
import Foundation
import Geometry
import Logging
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("The documented limits are those of the code")
struct LimitTableTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var values: [Int]
        /// The text that follows each value in the table.
        var units: [String]

        init(_ name: String, _ values: (Int, String)...) {
            self.name = name
            self.values = values.map(\.0)
            units = values.map(\.1)
        }

        var testDescription: String { name }
    }

    private static let rows = [
        Row("open connections", (ConnectionSettings.defaultMaximum, "")),
        Row("length of an address", (ResponseRules.longestURL, " bytes")),
        Row(
            "header", (RequestRulesHandler.largestHeader >> 10, " KiB"),
            (RequestRulesHandler.maximumFields, " fields")),
        Row("time for a header", (Int(ConnectionSettings().headerTimeout.components.seconds), " s")),
        Row(
            "time for a body", (Int(ConnectionSettings().bodyTimeout.components.seconds), " s between bytes"),
            (Int(ConnectionSettings().wholeBodyTimeout.components.seconds) / 60, " min in all")),
        Row("time for a response", (Int(ConnectionSettings().writeTimeout.components.seconds) / 60, " min")),
        Row("time between requests", (Int(ConnectionSettings().idleTimeout.components.seconds) / 60, " min")),
        Row(
            "body of `POST /observations`", (IngestRoutes.longestBody >> 20, " MiB"),
            (IngestRoutes.maximumObservations, " observations")),
        Row("other bodies", (ShapeBody.longest >> 10, " KiB")),
        Row("sources of a database", (SourceRecord.most, ""), (SourceRecord.reserved, " are reserved")),
        Row("waiting tiles", (WorkLimits.standard(.tile).queue, "")),
        Row("waiting maps, waiting animations", (WorkLimits.standard(.map).queue, " each")),
        Row("waiting queries, waiting bodies of observations", (WorkLimits.standard(.query).queue, " each")),
        Row("bodies of large responses in flight", (ResponseBudget.standardBytes >> 20, " MiB")),
        Row("clients that listen to events", (EventHub(logger: Logger(label: "limits")).maximumListeners, "")),
        Row("events that wait for a listener", (EventHub.longestBacklog, "")),
        Row("layers of a picture", (LayerList.longest, "")),
        Row("names in a list, such as `source`", (QueryReader.maximumNames, "")),
        Row("pixels of an animation", (AnimationRenderer.maximumPixels, "")),
        Row("features of a page", (PageParameters.maximumLimit, ""), (CollectionRoutes.maximumBytes >> 20, " MiB")),
        Row("corners of smoothed polygons", (PolygonSource.maximumCorners, "")),
        Row("positions of a ring", (AreaRing.positions.upperBound, "")),
        Row("length of a route", (Int(Route.longestNauticalMiles), " NM")),
        Row("items of an alert", (AlertSource.maximumItems, "")),
        Row("monitored flights", (FlightMonitor.maximumPerKey, " of a key"), (FlightMonitor.most, " of all")),
        Row("tiles of a pack", (PackLimits.tiles, ""), (ExportFiles.largest >> 20, " MiB")),
        Row("export jobs", (ExportJobSettings.maximumPerOwner, " of a client"), (ExportJobSettings.maximum, " of all")),
    ]

    /// The table by the names of its rows.
    private static func table() throws -> [String: String] {
        let page = try String(
            contentsOf: World.repository.appending(path: "docs/http/README.md"), encoding: .utf8)
        let section = page.components(separatedBy: "\n## Limits\n").dropFirst().first ?? ""
        let table = section.split(separator: "\n").filter { $0.hasPrefix("| ") }
        return Dictionary(
            table.map { line in
                let cells = line.components(separatedBy: " | ")
                return (String(cells[0].dropFirst(2)), cells.count > 1 ? cells[1] : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test("a row of the table has the value of the code", arguments: rows)
    private func row(_ row: Row) throws {
        let text = try #require(try Self.table()[row.name])
        let plain = text.replacing(",", with: "")
        for (value, unit) in zip(row.values, row.units) {
            let number = try Regex("\\b\(value)\(unit)\\b")
            #expect(plain.contains(number), "\(value)\(unit) is not in '\(text)'")
        }
    }
}
