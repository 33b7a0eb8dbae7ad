import Datasets
import JSONKit

/// The standards' parameters of WMS and WMTS requests. The reader reads no others, and the description of the interface
/// names no others.
///
/// Source: OGC 06-042 (WMS 1.3.0) and 01-068r3 (WMS 1.1.1) section 7; OGC 05-078r4 section 12 (GetLegendGraphic); OGC
/// 07-057r7 (WMTS 1.0.0) sections 7 and 8
package enum ServiceParameter: String, Sendable, CaseIterable {
    case service = "SERVICE"
    case version = "VERSION"
    case oldVersion = "WMTVER"
    case request = "REQUEST"
    case layers = "LAYERS"
    case styles = "STYLES"
    case crs = "CRS"
    case srs = "SRS"
    case box = "BBOX"
    case width = "WIDTH"
    case height = "HEIGHT"
    case format = "FORMAT"
    case transparent = "TRANSPARENT"
    case background = "BGCOLOR"
    case exceptions = "EXCEPTIONS"
    case time = "TIME"
    case elevation = "ELEVATION"
    case resolution = "DPI"
    case mapResolution = "MAP_RESOLUTION"
    case queryLayers = "QUERY_LAYERS"
    case infoFormat = "INFO_FORMAT"
    case featureCount = "FEATURE_COUNT"
    case column = "I"
    case row = "J"
    case oldColumn = "X"
    case oldRow = "Y"
    case layer = "LAYER"
    case style = "STYLE"
    case matrixSet = "TILEMATRIXSET"
    case matrix = "TILEMATRIX"
    case tileRow = "TILEROW"
    case tileColumn = "TILECOL"
    case tileInfoFormat = "INFOFORMAT"

    package enum Service: String, Sendable {
        case wms = "WMS"
        case wmts = "WMTS"

        /// The operations in the order of the standard.
        package var operations: [String] {
            switch self {
            case .wms: ["GetCapabilities", "GetMap", "GetFeatureInfo", "GetLegendGraphic"]
            case .wmts: ["GetCapabilities", "GetTile", "GetFeatureInfo"]
            }
        }

        /// All parameters.
        package var parameters: [ServiceParameter] {
            switch self {
            case .wms:
                ServiceParameter.allCases.filter { parameter in
                    ![.matrixSet, .matrix, .tileRow, .tileColumn, .tileInfoFormat].contains(parameter)
                }
            case .wmts:
                [
                    .service, .version, .request, .layer, .style, .format, .matrixSet, .matrix, .tileRow, .tileColumn,
                    .time, .elevation, .column, .row, .tileInfoFormat,
                ]
            }
        }
    }

    static func isKnown(_ name: String) -> Bool { ServiceParameter(rawValue: name) != nil }

    /// The description, without a final full stop.
    package func summary(in service: Service) -> String {
        switch self {
        case .service: "The service"
        case .version: "The version of the service; other versions are negotiated"
        case .oldVersion: "The version in requests of WMS 1.0, in place of VERSION"
        case .request: "The operation; names are compared without case, here and in all parameters"
        case .layers: "GetMap, GetFeatureInfo: layers, the lowest first"
        case .styles: "GetMap, GetFeatureInfo: a style for each layer, or nothing for the default"
        case .crs: "GetMap, GetFeatureInfo of 1.3.0: EPSG:3857, EPSG:4326 or CRS:84"
        case .srs: "GetMap, GetFeatureInfo of 1.1.1: EPSG:3857 or EPSG:4326"
        case .box: "GetMap, GetFeatureInfo: four numbers in the order of the coordinate reference system"
        case .width: "GetMap, GetFeatureInfo: pixels from west to east, at most 4096"
        case .height: "GetMap, GetFeatureInfo: pixels from north to south, at most 4096"
        case .format: "The media type: image/png, and image/svg+xml for legends"
        case .transparent: "GetMap: TRUE or FALSE"
        case .background: "GetMap: the background colour as 0xRRGGBB"
        case .exceptions: "GetMap: the form of errors: XML, INIMAGE or BLANK"
        case .time: "An instant, or an interval a/b whose end is shown; the newest picture without it"
        case .elevation: "Feet of pressure altitude, or low/high"
        case .resolution: "GetMap, GetLegendGraphic: dots per inch; 96 is one pixel per point"
        case .mapResolution: "As DPI, from other clients"
        case .queryLayers: "GetFeatureInfo: layers out of LAYERS"
        case .infoFormat, .tileInfoFormat:
            "GetFeatureInfo: " + FeatureInfoFormat.allCases.map(\.rawValue).joined(separator: ", ")
        case .featureCount: "GetFeatureInfo: the most features of each layer, at most 100"
        case .column: "GetFeatureInfo: pixels from the west\(service == .wms ? ", in 1.3.0" : "")"
        case .row: "GetFeatureInfo: pixels from the north\(service == .wms ? ", in 1.3.0" : "")"
        case .oldColumn: "GetFeatureInfo of 1.1.1: pixels from the west"
        case .oldRow: "GetFeatureInfo of 1.1.1: pixels from the north"
        case .layer: service == .wms ? "GetLegendGraphic: layers" : "A layer, or a list, the lowest first"
        case .style: service == .wms ? "GetLegendGraphic: a style" : "A style; the default without it"
        case .matrixSet: "The tile matrix set: " + WMTSTileParameters.matrixSets.joined(separator: " or ")
        case .matrix: "The zoom"
        case .tileRow: "The row of the tile, from the north"
        case .tileColumn: "The column of the tile, from the west"
        }
    }

    /// A value with which, in each parameter, a request succeeds.
    func example(in service: Service) -> String? {
        switch self {
        case .version: service == .wms ? "1.3.0" : "1.0.0"
        case .layers, .layer, .queryLayers: Dataset.hexagons.id
        case .crs: "EPSG:3857"
        case .box: "-20037508,-20037508,20037508,20037508"
        case .width, .height: "256"
        case .format: "image/png"
        case .column, .row: "128"
        case .infoFormat, .tileInfoFormat: FeatureInfoFormat.json.rawValue
        case .matrixSet: WMTSTileParameters.matrixSets[0]
        case .matrix, .tileRow, .tileColumn: "0"
        default: nil
        }
    }

    /// The JSON Schema of its value. Numbers are texts too, because an operation passes over the parameters of others.
    func schema(in service: Service) -> JSONValue {
        switch self {
        case .service: ["type": "string", "enum": [.string(service.rawValue)]]
        case .request: ["type": "string", "enum": .array(service.operations.map { .string($0) })]
        default: example(in: service).map { ["type": "string", "example": .string($0)] } ?? ["type": "string"]
        }
    }
}
