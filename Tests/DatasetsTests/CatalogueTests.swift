import AviationFormats
import BillowExchange
import Geometry
import Testing
import Turbulence

@testable import Datasets

/// The catalogue is the one list of datasets: what is derived from it must be unambiguous.
@Suite("The catalogue of datasets") struct CatalogueTests {
    @Test("ids, collections of areas, kinds of areas and places in a picture are there once")
    func unique() {
        let all = Catalogue.all
        #expect(Set(all.map(\.id)).count == all.count)
        let areas = all.compactMap(\.areas)
        #expect(Set(areas).count == areas.count)
        let kinds = Catalogue.areaKinds.map(\.id)
        #expect(Set(kinds).count == kinds.count)
        let stacking = Catalogue.menu.map(\.stacking)
        #expect(Set(stacking).count == stacking.count)
        #expect(all.allSatisfy { !$0.title.isEmpty && !$0.shortTitle.isEmpty && $0.summary.hasSuffix(".") })
    }

    @Test("a dataset is found by its id, its areas and its kind of area", arguments: Catalogue.all)
    func lookup(_ dataset: Dataset) {
        #expect(Catalogue.dataset(dataset.id) == dataset)
        #expect(Catalogue.layer(dataset.id) == (dataset.drawing == nil ? nil : dataset))
        if let areas = dataset.areas { #expect(Catalogue.dataset(of: areas) == dataset) }
        for kind in dataset.areaKinds {
            #expect(Catalogue.dataset(ofAreaKind: kind.id) == dataset)
            if let origin = kind.origin { #expect(Catalogue.datasets(of: origin).contains(dataset)) }
        }
        #expect(Catalogue.dataset(dataset.id.uppercased()) == nil)
    }

    @Test("the parts of a layer are layers, and are left out of a picture of everything")
    func parts() {
        for layer in Catalogue.layers {
            for part in layer.parts {
                #expect(Catalogue.layer(part) != nil)
                #expect(!Catalogue.stack.contains { $0.id == part })
            }
        }
        #expect(Catalogue.stack.contains(.turbulence) && !Catalogue.menu.contains(.turbulence))
    }

    @Test("hexagons are polygons below the zoom of their borders, in tiles with the properties of both")
    func polygonsByZoom() {
        let first = Dataset.firstHexagonZoom
        #expect(Dataset.turbulence.showsPolygons(atZoom: first - 1) && !Dataset.turbulence.showsPolygons(atZoom: first))
        #expect(!Dataset.hexagons.showsPolygons(atZoom: 0) && Dataset.polygons.showsPolygons(atZoom: 20))
        #expect(Catalogue.all.filter(\.isPolygons) == [.polygons])
        let names = Set(Dataset.turbulence.tileProperties.map(\.name.description))
        for part in [Dataset.hexagons, .polygons] {
            #expect(names.isSuperset(of: part.tileProperties.map(\.name.description)), "\(part)")
        }
    }

    @Test("one dataset of those of a kind of record is fed, and the others are derived from it")
    func derived() {
        let observations = Catalogue.all.filter { $0.content == .history(.observations) }
        #expect(observations.filter { !$0.isDerived } == [.turbulence])
        #expect(Catalogue.kind(of: .polygons) == .polygons && Catalogue.kind(of: .hazards) == .hazards)
    }

    @Test("every property is described once, and a number that has a unit or a range says it", arguments: Catalogue.all)
    func properties(_ dataset: Dataset) {
        let names = dataset.properties.map(\.name.description)
        #expect(Set(names).count == names.count)
        for property in dataset.properties {
            #expect(!property.summary.isEmpty && !property.summary.hasSuffix("."), "\(property.name)")
            #expect(property.summary.split(separator: " ").count <= 20, "\(property.name)")
        }
        if let time = dataset.timeProperty {
            #expect(dataset.properties.contains { $0.name.description == time && $0.type == .instant })
        }
    }

    @Test("the columns of CSV are the properties in their order", arguments: Catalogue.all)
    func columns(_ dataset: Dataset) throws {
        var writer = FeatureWriter(dataset, as: .csv)
        writer.begin()
        let header = String(decoding: writer.bytes, as: UTF8.self).trimmingPrefix("id,").split(separator: ",")
        let columns = dataset.properties.filter { !$0.isOfTilesOnly }.map(\.name.description)
        #expect(header.prefix(columns.count).map(String.init) == columns)
    }

    @Test("an observation has its values under the names of the schema, and nothing else")
    func values() throws {
        let cell = try #require(Cell(h3String: "85283473fffffff"))
        let observation = Observation(
            cell: cell, altitude: AltitudeBand(try #require(AltitudeBlock(thousands: 38))),
            intensity: .reported(.moderate, edr: EDR(0.25)), observedAt: Instant(clamping: 1_790_000_000),
            source: try #require(SourceID("skypath")))
        let feature = ObservationFeature(
            observation, id: "a", severity: .moderate, basis: .reported, reports: 3, trend: .worse)
        let values = Schema.hexagons.values(of: feature)
        #expect(
            values.map(\.name.description) == [
                "h3", "altitude", "altitudeMin", "altitudeMax", "severity", "severityName", "severityBasis", "edr",
                "observedAt", "source", "kind", "reports", "trend",
            ])
        #expect(values.first { $0.name.description == "reports" }?.value == .integer(3))
        #expect(values.first { $0.name.description == "edr" }?.value == .decimal(0.25, decimals: 4))
    }

    @Test("each property is read as the type that it is described with")
    func readings() {
        func check<Record>(_ schema: Schema<Record>) {
            for field in schema.fields {
                let isRight =
                    switch (field.property.type, field.reading) {
                    case (.text, .text), (.integer, .integer), (.decimal, .decimal), (.flag, .flag),
                        (.instant, .instant), (.instants, .instants), (.groups, .groups):
                        true
                    default: false
                    }
                #expect(isRight, "\(field.property.name)")
            }
        }
        check(Schema.hexagons)
        check(Schema.observations)
        check(Schema.polygons)
        check(Schema.pireps)
        check(Schema.areas)
        check(Schema.traffic)
        check(Schema.tracks)
    }

    @Test("a product of hazards has a format, and becomes the areas of one dataset")
    func products() {
        let service = Dataset.Origin.aircraftReports.service
        let types = Catalogue.types(of: service).filter { $0 != Dataset.Origin.aircraftReports.type }
        #expect(Catalogue.hazardProducts.map(\.endpoint) == types)
        #expect(Set(Catalogue.hazardProducts).count == types.count)
        for product in Catalogue.hazardProducts {
            let areas = Catalogue.areas(of: .aviationWeather(product))
            #expect(areas?.kind.id == product.id, "\(product.id)")
            #expect(areas.map { Catalogue.dataset(of: $0.number) } == Catalogue.dataset(ofAreaKind: product.id))
        }
        #expect(Catalogue.areas(of: Dataset.Origin("skypath", "polygons"))?.number == .polygons)
        #expect(Catalogue.areas(of: .aircraftReports) == nil && Catalogue.areas(of: .file) == nil)
    }

    @Test("a service provides the kinds of data that its types become")
    func kindsOfServices() {
        #expect(Catalogue.kinds(of: "opensky") == [.positions] && Catalogue.kinds(of: "noaa-gtg") == [.fields])
        #expect(Catalogue.kinds(of: "skypath").isSuperset(of: [.observations, .polygons, .forecasts, .positions]))
        #expect(Catalogue.kinds(of: "nobody") == [])
    }

    @Test("an upstream's types become datasets")
    func origins() {
        #expect(Catalogue.types(of: "aviationweather").prefix(2) == ["pirep", "airsigmet"])
        #expect(Catalogue.datasets(of: Dataset.Origin("skypath", "flights")) == [.traffic, .tracks])
        #expect(Catalogue.datasets(of: Dataset.Origin("skypath", "nothing")).isEmpty)
    }

    @Test("snapshots have a longest gap between fetches, and data that a later fetch completes has none")
    func gaps() {
        let gaps = Catalogue.kinds.map { ($0.rawValue, $0.longestGapSeconds) }
        #expect(
            Dictionary(uniqueKeysWithValues: gaps) == [
                "observations": nil, "reports": nil, "hazards": 3_600, "forecasts": 3_600, "polygons": 3_600,
                "advisories": 3_600, "positions": 900, "fields": 3_600,
            ])
        #expect(FeedKind(rawValue: "unknown").longestGapSeconds == 3_600)
    }
}
