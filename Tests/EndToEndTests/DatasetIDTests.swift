import BillowSync
import Datasets
import Foundation
import Testing

@testable import billow

/// The catalogue is the one list of datasets. Elsewhere an id is a literal only where the word means something else.
@Suite("Ids of datasets stand in the catalogue alone") struct DatasetIDTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The ids of datasets, products and kinds of sources.
    private static let ids = Set(
        Catalogue.all.map(\.id) + Catalogue.areaKinds.filter { $0.product != nil }.map(\.id)
            + Catalogue.types(of: Dataset.Origin.aircraftReports.service)
            + Catalogue.all.flatMap(\.origins).map(\.service))

    /// Folders with words of their own, and why.
    private static let folders = [
        "Sources/Datasets/": "the catalogue",
        "Sources/AviationFormats/": "the names of products, which the catalogue takes from there",
        "Sources/SkyPath/": "SkyPath's words on the wire",
        "Sources/UpstreamSimulator/": "the upstreams' words on the wire",
    ]

    /// The literals that are allowed elsewhere, and what they mean there.
    private static let allowed: [String: [String: String]] = [
        "Sources/BillowEngine/Publishing/Retention.swift": ["observations": "a count in the log"],
        "Sources/BillowExchange/PilotReportDecoder+Exchange.swift": ["turbulence": "a property of pilot reports"],
        "Sources/BillowExchange/RecordFields.swift": ["turbulence": "a property of pilot reports"],
        "Sources/BillowFields/FieldFrame.swift": ["gtg": "NOAA's name of a product"],
        "Sources/BillowHTTP/OGC/OGCCatalogue.swift": ["turbulence": "a keyword"],
        "Sources/BillowHTTP/Responses/LayerDescription.swift": ["polygons": "a shape", "tracks": "a shape"],
        "Sources/BillowRaster/Legend.swift": ["turbulence": "a subject of areas"],
        "Sources/BillowRaster/MarkColours.swift": ["forecast": "a colour of styles"],
        "Sources/BillowRaster/StyleLibrary.swift": ["skypath": "a style"],
        "Sources/BillowSync/AviationWeatherUpstream.swift": ["aviationweather": "its own kind"],
        "Sources/BillowSync/Billow/MirroredFeatures.swift": ["turbulence": "a property of pilot reports"],
        "Sources/BillowSync/Guidance/NOAAUpstream.swift": ["noaa-gtg": "its own kind"],
        "Sources/BillowSync/InboxUpstream.swift": ["inbox": "its own kind"],
        "Sources/BillowSync/OpenSkyUpstream.swift": ["opensky": "its own kind"],
        "Sources/BillowSync/SkyPathQueryTypes.swift": [
            "turbulence": "SkyPath's name", "polygons": "SkyPath's name", "pireps": "SkyPath's name",
        ],
        "Sources/BillowSync/SkyPathUpstream.swift": ["skypath": "its own kind"],
        "Sources/BillowSync/SyncError.swift": ["inbox": "a code of failures"],
        "Sources/Turbulence/FeedKind.swift": ["observations": "a kind of data that the log stores"],
        "Sources/Turbulence/IssuedArea+Replacing.swift": ["sigmet": "a kind of areas that the log stores"],
        "Sources/billow/Commands/OpenSkyCommand.swift": ["opensky": "a command"],
        "Sources/billow/Documentation/SettingsCatalogue.swift": ["turbulence": "a setting of SkyPath's wire"],
        "Sources/billow/Settings/Settings.swift": ["polygons": "a section of settings"],
        "Public/js/layers.js": ["polygons": "a shape", "tracks": "a shape"],
        "Public/js/styles.js": ["skypath": "a style"],
        "Public/js/timeline-marks.js": ["forecast": "a kind of frames"],
    ]

    /// The names of properties that are no words of their own, such as `altitudeMin`.
    private static let properties = Set(Catalogue.all.flatMap(\.propertyNames).filter { $0.contains(/[A-Z]/) })

    /// The files that name properties by literals, and why.
    private static let namingProperties = [
        "Sources/BillowExchange/CSVTable.swift": "errors of a table's head",
        "Sources/BillowExchange/ObservationDecoder.swift": "errors of a record's fields",
        "Sources/BillowExchange/RecordFields.swift": "the fields of imports, which must be in the schema",
        "Sources/BillowExchange/RefusedRecord.swift": "errors of a record's fields",
        "Sources/BillowHTTP/EDR/CoverageWriter.swift": "axes of a coverage",
        "Sources/BillowHTTP/Routes/IngestRoutes.swift": "errors of a record's fields",
        "Sources/BillowSync/Billow/MirroredFeatures.swift": "the features of a mirrored server",
        "Sources/BillowStore/ObservationBuffer.swift": "columns of the database",
        "Sources/BillowStore/Query.swift": "columns of the database",
        "Sources/BillowStore/Salvage+Copy.swift": "columns of the database",
        "Sources/billow/Commands/Record.swift": "properties of recorded aircraft",
    ]

    /// The names that stand as whole literals in the code of a folder, without comments, by file.
    private static func literals(_ names: Set<String>, _ folder: String, _ ending: String) throws -> [String: Set<
        String
    >] {
        let walk = try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
        var found: [String: Set<String>] = [:]
        for case let name as String in walk where name.hasSuffix(ending) {
            let path = "\(folder)/\(name)"
            guard !folders.keys.contains(where: path.hasPrefix) else { continue }
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") {
                let code = line.trimmingPrefix(while: \.isWhitespace)
                guard !["//", "/*", "*"].contains(where: code.hasPrefix) else { continue }
                for match in code.matches(of: #/(["'`])([A-Za-z0-9-]+)\1/#) where names.contains(String(match.2)) {
                    // In Swift the other two are marks of prose.
                    if ending == ".js" || match.1 == "\"" { found[path, default: []].insert(String(match.2)) }
                }
            }
        }
        return found
    }

    @Test("no code but the catalogue's names a dataset, a product or a kind of source, except with another meaning")
    func literals() throws {
        let found = try Self.literals(Self.ids, "Sources", ".swift")
            .merging(Self.literals(Self.ids, "Public/js", ".js")) { $1 }
        #expect(found.count > 15)
        for (path, names) in found.sorted(by: { $0.key < $1.key }) {
            let unexplained = names.subtracting(Self.allowed[path].map { Set($0.keys) } ?? [])
            #expect(unexplained == [], "\(path): derive it from the catalogue, or say above what it means there")
        }
        for (path, names) in Self.allowed {
            #expect(Set(names.keys).subtracting(found[path] ?? []) == [], "\(path) no longer has it")
        }
    }

    @Test("no code but the schemas and what reads records names a property of features")
    func properties() throws {
        let found = try Self.literals(Self.properties, "Sources", ".swift")
            .merging(Self.literals(Self.properties, "Public/js", ".js")) { $1 }
        #expect(Self.properties.count > 15 && found.count > 5)
        for (path, names) in found.sorted(by: { $0.key < $1.key }) where Self.namingProperties[path] == nil {
            Issue.record("\(path) names \(names.sorted()): find a property by its role")
        }
        for path in Self.namingProperties.keys { #expect(found[path] != nil, "\(path) no longer names one") }
    }

    @Test("the services of the catalogue are the kinds of sources")
    func services() {
        // A server that is mirrored has data of all of them.
        let mirrors: Set = [BillowUpstream.kind]
        #expect(
            Set(Catalogue.all.flatMap(\.origins).map(\.service)) == Set(Settings.Source.kinds).subtracting(mirrors))
    }

    @Test("the loop of a source, its rules, state and settings name no kind of source")
    func genericSync() throws {
        let folder = Self.root.appending(path: "Sources/BillowSync")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
            ["Source", "Sync", "Upstream", "DataQuery", "QueryType"].contains(where: name.hasPrefix)
        }
        #expect(names.count > 10)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let code = text.split(separator: "\n").filter { !$0.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") }
            for word in ["SkyPath", "OpenSky", "AviationWeather", "NOAA"] {
                #expect(!code.contains { $0.contains(word) }, "\(name) names \(word)")
            }
        }
    }
}
