import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry

/// The capabilities document of WMTS.
///
/// Source: OGC 07-057r7 (WMTS 1.0.0) sections 7.1 and 10
struct WMTSCapabilities {
    /// The server's base URL, without a trailing slash.
    let base: String
    let abstract: String
    let layers: [OGCLayer]

    static let mediaType = "application/xml"
    /// The path of the document; the paths of tiles have the same prefix.
    static let document = "/wmts/1.0.0/WMTSCapabilities.xml"
    static let folder = "/wmts/1.0.0"

    /// The XML document.
    var document: String {
        var xml = XMLWriter()
        xml.element(
            "Capabilities",
            [
                ("version", "1.0.0"), ("xmlns", "http://www.opengis.net/wmts/1.0"),
                ("xmlns:ows", "http://www.opengis.net/ows/1.1"), ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
                ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
                (
                    "xsi:schemaLocation",
                    "http://www.opengis.net/wmts/1.0 "
                        + "http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd"
                ),
            ]
        ) { xml in
            xml.element("ows:ServiceIdentification") { xml in
                xml.element("ows:Title", OGCCatalogue.title)
                xml.element("ows:Abstract", abstract)
                xml.element("ows:Keywords") { xml in
                    for keyword in OGCCatalogue.keywords { xml.element("ows:Keyword", keyword) }
                }
                xml.element("ows:ServiceType", "OGC WMTS")
                xml.element("ows:ServiceTypeVersion", "1.0.0")
                xml.element("ows:Fees", "none")
                xml.element("ows:AccessConstraints", "none")
            }
            xml.element("ows:OperationsMetadata") { xml in
                for operation in ["GetCapabilities", "GetTile", "GetFeatureInfo"] { describe(operation, &xml) }
            }
            xml.element("Contents") { xml in
                for layer in layers { describe(layer, &xml) }
                matrices(&xml)
            }
            xml.element("ServiceMetadataURL", [("xlink:href", base + Self.document)])
        }
        return xml.text
    }

    private func describe(_ operation: String, _ xml: inout XMLWriter) {
        func get(_ address: String, _ encoding: String, _ xml: inout XMLWriter) {
            xml.element("ows:Get", [("xlink:href", address)]) { xml in
                xml.element("ows:Constraint", [("name", "GetEncoding")]) { xml in
                    xml.element("ows:AllowedValues") { xml in xml.element("ows:Value", encoding) }
                }
            }
        }
        xml.element("ows:Operation", [("name", operation)]) { xml in
            xml.element("ows:DCP") { xml in
                xml.element("ows:HTTP") { xml in
                    get("\(base)/wmts?", "KVP", &xml)
                    if operation == "GetCapabilities" { get(base + Self.document, "RESTful", &xml) }
                }
            }
        }
    }

    private func describe(_ layer: OGCLayer, _ xml: inout XMLWriter) {
        let id = layer.dataset.id
        xml.element("Layer") { xml in
            xml.element("ows:Title", layer.dataset.title)
            xml.element("ows:Abstract", layer.abstract)
            xml.element("ows:WGS84BoundingBox") { xml in
                // Tiles end at this latitude. A box across the antimeridian becomes all longitudes here.
                let most = UnitMercator.maximumLatitude
                let (west, east) =
                    layer.box.crossesAntimeridian ? (-180.0, 180.0) : (layer.box.west, layer.box.east)
                xml.element("ows:LowerCorner", "\(west) \(max(layer.box.south, -most))")
                xml.element("ows:UpperCorner", "\(east) \(min(layer.box.north, most))")
            }
            xml.element("ows:Identifier", id)
            for legend in layer.legends {
                let isDefault = legend.style.id == StyleLibrary.defaultID
                xml.element("Style", isDefault ? [("isDefault", "true")] : []) { xml in
                    xml.element("ows:Title", legend.style.title)
                    xml.element("ows:Identifier", legend.style.id)
                    xml.element(
                        "LegendURL",
                        [
                            ("format", "image/png"),
                            ("xlink:href", OGCCatalogue.legend(base, layer.dataset, legend.style)),
                            ("width", "\(legend.size.width)"), ("height", "\(legend.size.height)"),
                        ])
                }
            }
            xml.element("Format", "image/png")
            for format in FeatureInfoFormat.allCases { xml.element("InfoFormat", format.rawValue) }
            xml.element("Dimension") { xml in
                xml.element("ows:Identifier", "time")
                xml.element("ows:UOM", "ISO8601")
                xml.element("Default", "current")
                xml.element("Current", "true")
                xml.element("Value", layer.time)
            }
            xml.element("TileMatrixSetLink") { xml in xml.element("TileMatrixSet", TileMatrixSet.id) }
            let path = "\(base)\(Self.folder)/\(id)/{Style}/{time}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}"
            xml.element(
                "ResourceURL",
                [("format", "image/png"), ("resourceType", "tile"), ("template", "\(path).png")])
            for format in FeatureInfoFormat.allCases {
                xml.element(
                    "ResourceURL",
                    [
                        ("format", format.rawValue), ("resourceType", "FeatureInfo"),
                        ("template", "\(path)/{J}/{I}.\(format.suffix)"),
                    ])
            }
        }
    }

    private func matrices(_ xml: inout XMLWriter) {
        let edge = TileMatrixSet.edge
        xml.element("TileMatrixSet") { xml in
            xml.element("ows:Title", TileMatrixSet.title)
            xml.element("ows:Identifier", TileMatrixSet.id)
            xml.element("ows:SupportedCRS", "urn:ogc:def:crs:EPSG::3857")
            xml.element("WellKnownScaleSet", "urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible")
            for matrix in TileMatrixSet.matrices {
                xml.element("TileMatrix") { xml in
                    xml.element("ows:Identifier", "\(matrix.z)")
                    xml.element("ScaleDenominator", "\(matrix.scaleDenominator)")
                    xml.element("TopLeftCorner", "\(-edge) \(edge)")
                    xml.element("TileWidth", "\(matrix.side)")
                    xml.element("TileHeight", "\(matrix.side)")
                    xml.element("MatrixWidth", "\(matrix.count)")
                    xml.element("MatrixHeight", "\(matrix.count)")
                }
            }
        }
    }
}
