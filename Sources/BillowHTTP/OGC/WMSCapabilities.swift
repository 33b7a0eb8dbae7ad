import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry

/// The capabilities document of WMS.
///
/// Source: OGC 06-042 (WMS 1.3.0) section 7.2.4 and annex E.1; OGC 01-068r3 (WMS 1.1.1) annex A.1
struct WMSCapabilities {
    let version: WMSVersion
    /// The server's base URL, without a trailing slash.
    let base: String
    let abstract: String
    let layers: [OGCLayer]

    private var isNew: Bool { version == .v130 }
    private static let xlink = "http://www.w3.org/1999/xlink"

    var mediaType: String { isNew ? "text/xml" : "application/vnd.ogc.wms_xml" }

    /// The XML document.
    var document: String {
        var xml = XMLWriter()
        if isNew {
            let schemas =
                "http://www.opengis.net/wms http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd "
                + "http://www.opengis.net/sld http://schemas.opengis.net/sld/1.1.0/sld_capabilities.xsd"
            xml.element(
                "WMS_Capabilities",
                [
                    ("version", version.rawValue), ("xmlns", "http://www.opengis.net/wms"),
                    ("xmlns:sld", "http://www.opengis.net/sld"), ("xmlns:xlink", Self.xlink),
                    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"), ("xsi:schemaLocation", schemas),
                ], content)
        } else {
            xml.element("WMT_MS_Capabilities", [("version", version.rawValue)], content)
        }
        return xml.text
    }

    private func content(_ xml: inout XMLWriter) {
        xml.element("Service") { xml in
            xml.element("Name", isNew ? "WMS" : "OGC:WMS")
            xml.element("Title", OGCCatalogue.title)
            xml.element("Abstract", abstract)
            xml.element("KeywordList") { xml in
                for keyword in OGCCatalogue.keywords { xml.element("Keyword", keyword) }
            }
            xml.element("OnlineResource", link("\(base)/"))
            xml.element("Fees", "none")
            xml.element("AccessConstraints", "none")
            if isNew {
                xml.element("LayerLimit", String(LayerList.longest))
                xml.element("MaxWidth", String(MapRegion.sides.upperBound))
                xml.element("MaxHeight", String(MapRegion.sides.upperBound))
            }
        }
        xml.element("Capability") { xml in
            xml.element("Request") { xml in
                operation("GetCapabilities", [mediaType], &xml)
                operation("GetMap", ["image/png"], &xml)
                operation("GetFeatureInfo", FeatureInfoFormat.allCases.map(\.rawValue), &xml)
                operation(
                    isNew ? "sld:GetLegendGraphic" : "GetLegendGraphic", ["image/png", WMSLegendParameters.svg], &xml)
            }
            xml.element("Exception") { xml in xml.element("Format", isNew ? "XML" : "application/vnd.ogc.se_xml") }
            xml.element("Layer") { xml in
                xml.element("Title", OGCCatalogue.title)
                xml.element("Abstract", abstract)
                for crs in crss { xml.element(isNew ? "CRS" : "SRS", crs.rawValue) }
                boxes(.world, &xml)
                for layer in layers { describe(layer, &xml) }
            }
        }
    }

    /// Version 1.1.1 lacks CRS:84.
    private var crss: [MapCRS] { isNew ? MapCRS.allCases : [.mercator, .geographic] }

    private func link(_ address: String) -> [XMLWriter.Attribute] {
        [("xmlns:xlink", Self.xlink), ("xlink:type", "simple"), ("xlink:href", address)]
    }

    private func operation(_ name: StaticString, _ formats: [String], _ xml: inout XMLWriter) {
        xml.element(name) { xml in
            for format in formats { xml.element("Format", format) }
            xml.element("DCPType") { xml in
                xml.element("HTTP") { xml in
                    xml.element("Get") { xml in xml.element("OnlineResource", link("\(base)/wms?")) }
                }
            }
        }
    }

    private func number(_ value: Double) -> String { "\((value * 1e6).rounded() / 1e6)" }

    private func boxes(_ box: BoundingBox, _ xml: inout XMLWriter) {
        // A box across the antimeridian becomes all longitudes here.
        let (west, east) = box.crossesAntimeridian ? (-180.0, 180.0) : (box.west, box.east)
        let degrees = [west, box.south, east, box.north].map(number)
        func attributes(_ crs: MapCRS, _ numbers: [String]) -> [XMLWriter.Attribute] {
            [
                (isNew ? "CRS" : "SRS", crs.rawValue), ("minx", numbers[0]), ("miny", numbers[1]),
                ("maxx", numbers[2]), ("maxy", numbers[3]),
            ]
        }
        if isNew {
            xml.element("EX_GeographicBoundingBox") { xml in
                xml.element("westBoundLongitude", degrees[0])
                xml.element("eastBoundLongitude", degrees[2])
                xml.element("southBoundLatitude", degrees[1])
                xml.element("northBoundLatitude", degrees[3])
            }
        } else {
            xml.element(
                "LatLonBoundingBox",
                [("minx", degrees[0]), ("miny", degrees[1]), ("maxx", degrees[2]), ("maxy", degrees[3])])
        }
        for crs in crss {
            let numbers =
                switch crs {
                case .mercator: metres(west: west, south: box.south, east: east, north: box.north)
                case .geographic: isNew ? [degrees[1], degrees[0], degrees[3], degrees[2]] : degrees
                case .crs84: degrees
                }
            xml.element("BoundingBox", attributes(crs, numbers))
        }
    }

    private func metres(west: Double, south: Double, east: Double, north: Double) -> [String] {
        let world = 2 * MapCRS.mercatorEdge
        func y(_ latitude: Double) -> Double {
            let most = UnitMercator.maximumLatitude
            return (0.5 - UnitMercator.y(latitude: min(max(latitude, -most), most))) * world
        }
        return [west / 360 * world, y(south), east / 360 * world, y(north)].map(number)
    }

    /// Pressure altitude in feet, in blocks of 1,000.
    ///
    /// Source: OGC 06-042 annex C.2 (units by UCUM: `[ft_i]`, the international foot)
    private static let elevation = "0/60000/1000"

    private func describe(_ layer: OGCLayer, _ xml: inout XMLWriter) {
        xml.element("Layer", [("queryable", "1"), ("opaque", "0")]) { xml in
            xml.element("Name", layer.dataset.id)
            xml.element("Title", layer.dataset.title)
            xml.element("Abstract", layer.abstract)
            for crs in crss { xml.element(isNew ? "CRS" : "SRS", crs.rawValue) }
            boxes(layer.box, &xml)
            let elevation: [XMLWriter.Attribute] = [("name", "elevation"), ("units", "[ft_i]"), ("unitSymbol", "ft")]
            let values: [XMLWriter.Attribute] = [
                ("default", "0/60000"), ("multipleValues", "0"), ("nearestValue", "1"),
            ]
            let time: [XMLWriter.Attribute] = [("name", "time"), ("units", "ISO8601")]
            let times: [XMLWriter.Attribute] = [
                ("default", "current"), ("multipleValues", "0"), ("nearestValue", "0"), ("current", "1"),
            ]
            if isNew {
                xml.element("Dimension", time + times, layer.time)
                xml.element("Dimension", elevation + values, Self.elevation)
            } else {
                xml.element("Dimension", time)
                xml.element("Dimension", elevation)
                xml.element("Extent", [("name", "time")] + times, layer.time)
                xml.element("Extent", [("name", "elevation")] + values, Self.elevation)
            }
            if let attribution = layer.dataset.attribution {
                xml.element("Attribution") { xml in xml.element("Title", attribution) }
            }
            for legend in layer.legends {
                xml.element("Style") { xml in
                    xml.element("Name", legend.style.id)
                    xml.element("Title", legend.style.title)
                    xml.element("Abstract", legend.style.description)
                    xml.element(
                        "LegendURL", [("width", "\(legend.size.width)"), ("height", "\(legend.size.height)")]
                    ) { xml in
                        xml.element("Format", "image/png")
                        xml.element(
                            "OnlineResource", link(OGCCatalogue.legend(base, layer.dataset, legend.style)))
                    }
                }
            }
        }
    }
}
