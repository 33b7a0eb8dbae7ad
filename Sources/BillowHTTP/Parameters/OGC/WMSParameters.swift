package import BillowEngine
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import Datasets
package import Geometry
import Turbulence

/// The supported versions of WMS.
package enum WMSVersion: String, Sendable, Hashable, CaseIterable {
    case v111 = "1.1.1"
    case v130 = "1.3.0"

    /// Selects the version from the requested number: below 1.3.0 it is 1.1.1. Without a number, the parameter for the
    /// coordinate reference system decides.
    ///
    /// Source: OGC 06-042 (WMS 1.3.0) section 6.2.4
    package init(_ kvp: KVPReader) throws(OGCException) {
        guard let text = kvp.text("VERSION") ?? kvp.text("WMTVER") else {
            self = kvp.text("CRS") == nil && kvp.text("SRS") != nil ? .v111 : .v130
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { PlainInteger.parse($0) }
        guard (1...3).contains(parts.count), let major = parts[0], parts.allSatisfy({ $0 != nil }) else {
            throw OGCException(.invalidParameterValue, "VERSION", text, expected: "1.3.0 or 1.1.1")
        }
        self = major < 1 || major == 1 && (parts.count > 1 ? parts[1] ?? 0 : 0) < 3 ? .v111 : .v130
    }

    /// The version for the response to an invalid version number.
    package static func orLatest(_ kvp: KVPReader) -> WMSVersion { (try? WMSVersion(kvp)) ?? .v130 }

    /// Whether boxes in `EPSG:4326` have latitude first.
    func isLatitudeFirst(_ crs: MapCRS) -> Bool { self == .v130 && crs == .geographic }

    /// The name of the parameter for the coordinate reference system.
    var crsName: String { self == .v130 ? "CRS" : "SRS" }
}

/// The parameters of WMS GetMap, with Billow's own (`KVPReader.ownNames`) beside them.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `LAYERS` | list of layers, the lowest first | `Catalogue.layers`, at most 10 | required |
/// | `STYLES` | list of styles, one for each layer, or none | the style library | `skypath` |
/// | `CRS`, `SRS` | name | `MapCRS` | required |
/// | `BBOX` | four numbers in the order of the CRS | three worlds each way | required |
/// | `WIDTH`, `HEIGHT` | pixels | 1…4096 | required |
/// | `FORMAT` | media type | image/png | image/png |
/// | `TRANSPARENT` | TRUE or FALSE | | FALSE |
/// | `BGCOLOR` | 0xRRGGBB | | 0xFFFFFF |
/// | `TIME` | `OGCTime` | the layers' extent | current |
/// | `ELEVATION` | feet, or low/high | 0…60999 | all |
/// | `DPI` | dots an inch | 96 is 1 pixel a point, up to 3 | 96 |
package struct WMSMapParameters: Sendable {
    package let layers: LayerList
    /// One for each layer.
    private let styles: [Style]
    package let region: MapRegion
    package let filter: Filter
    package let time: OGCTime
    private let background: StraightColour?
    private let labels: Int
    private let hatchesIncomplete: Bool
    private let hasLegend: Bool
    private let hasTime: Bool
    private let hasScaleBar: Bool

    /// The upper edge of the highest altitude block, in feet.
    package static let highestFeet = 60_999

    package init(_ kvp: KVPReader, _ version: WMSVersion, styles library: StyleLibrary) throws(OGCException) {
        layers = try Self.layers(kvp.required("LAYERS"), "LAYERS")
        let own = try Self.own(kvp)
        styles = try Self.styles(kvp.names("STYLES"), of: layers, library, own)
        region = try Self.region(kvp, version)
        if let format = kvp.text("FORMAT"), !Self.isPNG(format) {
            throw OGCException(.invalidFormat, "FORMAT", format, expected: "image/png")
        }
        let dataStatus = layers.layers
        filter = try translated { () throws(ParameterProblem) in try own.filter(of: dataStatus, for: .pictures) }
        time = try Self.time(kvp)
        background = try Self.background(kvp)
        labels = try translated { () throws(ParameterProblem) in try own.labels() }
        hatchesIncomplete = try translated { () throws(ParameterProblem) in try own.hatchesIncomplete() }
        hasLegend = try translated { () throws(ParameterProblem) in try own.boolean("legend") ?? false }
        hasTime = try translated { () throws(ParameterProblem) in try own.boolean("timestamp") ?? false }
        hasScaleBar = try translated { () throws(ParameterProblem) in try own.boolean("scalebar") ?? false }
    }

    // MARK: - Rendering

    /// The request to the renderers.
    package enum RenderRequest: Sendable {
        /// The region equals a tile, which is drawn and cached as one.
        case tile(TileRequest)
        case map(MapComposition)
    }

    /// The order for these parameters, and a description of its data.
    package func order(_ frames: FrameSource, _ policy: FreshnessPolicy, in snapshot: Snapshot) throws(EngineError)
        -> (order: RenderRequest, dataStatus: DataStatus)
    {
        try frames.polygonHistories.require(filter, for: layers)
        let scene = try frames.scene(
            of: layers, at: time.requested(of: layers, frames, in: snapshot), in: snapshot)
        let dataStatus = policy.dataStatus(
            layers, scene: scene.layers, of: region.region, at: scene.instant, filter: filter, in: snapshot)
        let isHatched = hatchesIncomplete && dataStatus.isIncomplete
        let groups = groups(of: scene.layers)
        if let tile = region.tile, tile.size.scales.contains(tile.scale), background == nil, groups.count == 1,
            !hasLegend, !hasTime, !hasScaleBar
        {
            let request = TileRequest(
                layers: scene.layers, coord: tile.coord, scale: tile.scale, size: tile.size, instant: scene.instant,
                filter: filter, style: groups[0].style, labels: labels, isHatched: isHatched)
            return (.tile(request), dataStatus)
        }
        let lookBackSeconds = scene.layers.historySeconds(filter)
        var parts = groups.map { group in
            MapRequest(
                layers: group.layers, region: region, instant: scene.instant, filter: filter, style: group.style,
                labels: labels)
        }
        // Decorations over the image are drawn once.
        let last = parts.count - 1
        parts[last].isHatched = isHatched
        parts[last].furniture = MapFurniture(
            legend: hasLegend
                ? scene.layers.legend(
                    style: groups[last].style, severities: filter.severities,
                    simulated: dataStatus.freshness.isSimulated,
                    notes: filter.notes(lookBackSeconds: lookBackSeconds)) : nil,
            timeStamp: hasTime
                ? dataStatus.caption(filter, historySeconds: lookBackSeconds, asOf: snapshot.publication.asOf) : [],
            warnings: hasTime ? dataStatus.warnings(asOf: snapshot.publication.asOf) : [],
            showsScaleBar: hasScaleBar)
        parts[0].ground = background.map { .colour($0) }
        return (.map(MapComposition(parts[0], Array(parts.dropFirst()))), dataStatus)
    }

    /// Consecutive layers with the same style.
    private func groups(of scene: LayerList) -> [(layers: LayerList, style: Style)] {
        var groups: [(style: Style, layers: [Dataset])] = []
        for (layer, style) in zip(layers.layers, styles) where scene.layers.contains(layer) {
            if let last = groups.last, last.style == style {
                groups[groups.count - 1].layers.append(layer)
            } else {
                groups.append((style, [layer]))
            }
        }
        return groups.compactMap { group in
            scene.filter { group.layers.contains($0) }.map { (layers: $0, style: group.style) }
        }
    }

    // MARK: - Parsing

    static func layers(_ text: String, _ locator: String) throws(OGCException) -> LayerList {
        do throws(LayerList.Failure) { return try LayerList(text) } catch {
            switch error {
            case .unknown(let name):
                throw OGCException(
                    .layerNotDefined, locator, name,
                    expected: "one of " + Catalogue.layers.map(\.id).joined(separator: ", "))
            case .unusable(let error):
                throw OGCException(.invalidParameterValue, locator, error.value, expected: error.expected)
            }
        }
    }

    private static func styles(
        _ names: [String], of layers: LayerList, _ library: StyleLibrary, _ own: QueryReader
    ) throws(OGCException) -> [Style] {
        guard names.isEmpty || names.count == layers.layers.count else {
            throw OGCException(
                .styleNotDefined, "STYLES", names.joined(separator: ","),
                expected: "empty, or a list of as many styles as layers, which are \(layers.layers.count)")
        }
        var styles: [Style] = []
        for number in layers.layers.indices {
            let name = names.isEmpty ? "" : names[number]
            styles.append(try library.style(named: name, opacity: own, locator: "STYLES"))
        }
        return styles
    }

    private static func region(_ kvp: KVPReader, _ version: WMSVersion) throws(OGCException) -> MapRegion {
        let name = try kvp.required(version.crsName)
        guard let crs = MapCRS.allCases.first(where: { $0.rawValue == name.uppercased() }) else {
            throw OGCException(
                .invalidCRS, version.crsName, name,
                expected: MapCRS.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let text = try kvp.required("BBOX")
        let isLatitudeFirst = version.isLatitudeFirst(crs)
        let box: PlaneBox
        do throws(MapCRS.BoxProblem) { box = try crs.plane(text, isLatitudeFirst: isLatitudeFirst) } catch {
            throw OGCException(
                .invalidParameterValue, "BBOX", text,
                expected: error.expected(crs, isLatitudeFirst: isLatitudeFirst))
        }
        let width = try kvp.integer("WIDTH", in: MapRegion.sides)
        let height = try kvp.integer("HEIGHT", in: MapRegion.sides)
        guard
            let region = MapRegion(crs.projection, exactly: box, width: width, height: height, scale: kvp.scale)
        else {
            throw OGCException(
                .invalidParameterValue, "BBOX", text, expected: "of pixels that are at least 4 cm wide and high")
        }
        return region
    }

    /// Whether a format is `image/png`, with or without parameters, or another server's palette variant.
    static func isPNG(_ format: String) -> Bool {
        let type = format.lowercased().prefix { $0 != ";" }
        return type.filter { $0 != " " } == "image/png"
    }

    static func time(_ kvp: KVPReader) throws(OGCException) -> OGCTime {
        guard let time = OGCTime(kvp.text("TIME") ?? "") else {
            throw OGCException(.invalidDimensionValue, "TIME", kvp.text("TIME") ?? "", expected: OGCTime.expected)
        }
        return time
    }

    fileprivate static func background(_ kvp: KVPReader) throws(OGCException) -> StraightColour? {
        let text = kvp.text("BGCOLOR") ?? "0xFFFFFF"
        guard text.lowercased().hasPrefix("0x"), text.utf8.count == 8,
            let colour = StraightColour("#\(text.dropFirst(2))")
        else { throw OGCException(.invalidParameterValue, "BGCOLOR", text, expected: "0x and six hexadecimal digits") }
        switch kvp.text("TRANSPARENT")?.uppercased() {
        case nil, "FALSE": return colour
        case "TRUE": return nil
        case let other?: throw OGCException(.invalidParameterValue, "TRANSPARENT", other, expected: "TRUE or FALSE")
        }
    }

    /// Billow's own parameters, with the altitudes of `ELEVATION`.
    static func own(_ kvp: KVPReader) throws(OGCException) -> QueryReader {
        guard let text = kvp.text("ELEVATION") else { return kvp.own() }
        let expected = "feet of pressure altitude from 0 to \(highestFeet), or low/high"
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        var blocks: [Int] = []
        for part in parts {
            guard let feet = QueryReader.decimal(part), feet >= 0, feet <= Double(highestFeet) else {
                throw OGCException(.invalidDimensionValue, "ELEVATION", text, expected: expected)
            }
            blocks.append(Int(feet) / 1_000)
        }
        // The resolution of an interval is ignored.
        if blocks.count == 3 { blocks.removeLast() }
        guard (1...2).contains(blocks.count), let low = blocks.first, let high = blocks.last, low <= high else {
            throw OGCException(.invalidDimensionValue, "ELEVATION", text, expected: expected)
        }
        guard kvp.text("minAltitude") == nil, kvp.text("maxAltitude") == nil else {
            throw OGCException(
                .invalidDimensionValue, "ELEVATION", text,
                expected: "left out where minAltitude or maxAltitude is given")
        }
        var altitudes = ["minAltitude": "\(low * 1_000)"]
        if high < 60 { altitudes["maxAltitude"] = "\((high + 1) * 1_000)" }
        return kvp.own(altitudes)
    }
}

/// The picture that WMS GetMap returns for an error, if the client requests errors as pictures.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `EXCEPTIONS` | XML, INIMAGE or BLANK, or the media types of 1.1.1 | | XML |
/// | `WIDTH`, `HEIGHT`, `FORMAT`, `TRANSPARENT`, `BGCOLOR` | as of `WMSMapParameters` | | |
///
/// Source: OGC 06-042 (WMS 1.3.0) section 7.3.3.11; OGC 01-068r3 (WMS 1.1.1) section 7.2.3.11
package struct WMSExceptionPicture: Sendable {
    /// Whether it has the error's words.
    package let hasWords: Bool
    package let width: Int
    package let height: Int
    /// nil for a transparent one.
    package let background: StraightColour?

    /// Returns nil if the client requests XML, and if the request names no valid picture.
    package init?(_ kvp: KVPReader) {
        guard ["getmap", "map"].contains(kvp.text("REQUEST")?.lowercased() ?? "") else { return nil }
        switch kvp.text("EXCEPTIONS")?.lowercased() {
        case "inimage", "application/vnd.ogc.se_inimage": hasWords = true
        case "blank", "application/vnd.ogc.se_blank": hasWords = false
        default: return nil
        }
        func side(_ name: String) -> Int? {
            kvp.text(name).flatMap { PlainInteger.parse($0) }.flatMap { MapRegion.sides.contains($0) ? $0 : nil }
        }
        guard let width = side("WIDTH"), let height = side("HEIGHT"),
            kvp.text("FORMAT").map(WMSMapParameters.isPNG) ?? true
        else { return nil }
        self.width = width
        self.height = height
        do { background = try WMSMapParameters.background(kvp) } catch {
            // The colour itself may be the error.
            background = StraightColour(red: 255, green: 255, blue: 255)
        }
    }
}

/// The formats of GetFeatureInfo.
package enum FeatureInfoFormat: String, Sendable, Hashable, CaseIterable {
    case json = "application/json"
    case geoJSON = "application/geo+json"
    case text = "text/plain"

    /// The suffix of WMTS paths.
    package var suffix: String {
        switch self {
        case .json: "json"
        case .geoJSON: "geojson"
        case .text: "txt"
        }
    }

    /// - Parameters:
    ///   - text: nil for the default.
    ///   - name: the name of the parameter.
    package init(_ text: String?, _ name: String) throws(OGCException) {
        let text = text ?? Self.json.rawValue
        guard let format = Self.allCases.first(where: { $0.rawValue == text.lowercased() }) else {
            throw OGCException(
                .invalidFormat, name, text, expected: Self.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self = format
    }
}

/// A GetFeatureInfo request: a pixel of an image.
package struct FeatureInfoParameters: Sendable {
    /// The queried layers.
    package let layers: LayerList
    /// All layers of the picture.
    package let pictured: LayerList
    package let time: OGCTime
    package let filter: Filter
    package let region: MapRegion
    package let column: Int
    package let row: Int
    /// The most features per layer.
    package let count: Int
    package let format: FeatureInfoFormat

    /// The upper limit of `FEATURE_COUNT`.
    package static let maximumFeatures = 100

    /// Reads a WMS request: the parameters of GetMap, and these.
    ///
    /// | name | type | range | default |
    /// | --- | --- | --- | --- |
    /// | `QUERY_LAYERS` | list of layers | those of `LAYERS` | required |
    /// | `INFO_FORMAT` | media type | `FeatureInfoFormat` | application/json |
    /// | `FEATURE_COUNT` | features of a layer | 1…100 | 1 |
    /// | `I`, `J`; 1.1.1: `X`, `Y` | pixels from the north-west | the picture | required |
    package init(_ kvp: KVPReader, _ version: WMSVersion, styles: StyleLibrary) throws(OGCException) {
        let map = try WMSMapParameters(kvp, version, styles: styles)
        layers = try WMSMapParameters.layers(kvp.required("QUERY_LAYERS"), "QUERY_LAYERS")
        if let other = layers.layers.first(where: { !map.layers.layers.contains($0) }) {
            throw OGCException(.layerNotDefined, "QUERY_LAYERS", other.id, expected: "one of LAYERS")
        }
        (pictured, time, filter, region) = (map.layers, map.time, map.filter, map.region)
        let names = version == .v130 ? ("I", "J") : ("X", "Y")
        column = try kvp.integer(names.0, in: 0...map.region.width - 1, .invalidPoint)
        row = try kvp.integer(names.1, in: 0...map.region.height - 1, .invalidPoint)
        if let text = kvp.text("FEATURE_COUNT") {
            guard let number = PlainInteger.parse(text), number >= 1 else {
                throw OGCException(
                    .invalidParameterValue, "FEATURE_COUNT", text, expected: "a whole number from 1")
            }
            count = min(number, Self.maximumFeatures)
        } else {
            count = 1
        }
        format = try FeatureInfoFormat(kvp.text("INFO_FORMAT"), "INFO_FORMAT")
    }

    /// A pixel of a WMTS tile.
    package init(_ tile: WMTSTileParameters, column: Int, row: Int, format: FeatureInfoFormat) {
        layers = tile.tile.layers
        pictured = layers
        time = tile.time
        filter = tile.tile.filter
        region = MapRegion(tile.tile.place.coord, scale: .one)
        self.column = column
        self.row = row
        count = Self.maximumFeatures
        self.format = format
    }

    /// The search box around the pixel, for features of a layer: symbols are larger than their place.
    package func box(of layer: Dataset) -> BoundingBox? {
        let points =
            switch layer.drawing {
            case .reports, .aircraft, .tracks: 8.0
            default: 0.5
            }
        return region.box(column: column, row: row, reach: points * Double(region.scale))
    }
}

/// The parameters of GetLegendGraphic.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `LAYER` | layer, or a list | `Catalogue.layers` | required |
/// | `STYLE` | style | the style library | `skypath` |
/// | `FORMAT` | media type | image/png, image/svg+xml | image/png |
/// | `TRANSPARENT`, `WIDTH`, `HEIGHT`, `SCALE` | any | | passed over |
///
/// Source: OGC 05-078r4 (Styled Layer Descriptor profile of WMS) section 12
package struct WMSLegendParameters: Sendable {
    package let layers: LayerList
    package let style: Style
    package let filter: Filter
    package let options: LegendOptions
    package let isSVG: Bool

    package static let svg = "image/svg+xml"

    package init(_ kvp: KVPReader, styles: StyleLibrary) throws(OGCException) {
        layers = try WMSMapParameters.layers(kvp.required("LAYER"), "LAYER")
        let own = try WMSMapParameters.own(kvp)
        style = try styles.style(named: kvp.text("STYLE") ?? "", opacity: own, locator: "STYLE")
        let dataStatus = layers.layers
        filter = try translated { () throws(ParameterProblem) in try own.filter(of: dataStatus, for: .pictures) }
        let format = kvp.text("FORMAT") ?? "image/png"
        isSVG = format.lowercased() == Self.svg
        guard isSVG || WMSMapParameters.isPNG(format) else {
            throw OGCException(.invalidFormat, "FORMAT", format, expected: "image/png or \(Self.svg)")
        }
        do { options = try LegendOptions(scale: kvp.scale) } catch {
            throw OGCException(.invalidParameterValue, "DPI", detail: "\(error).")
        }
    }
}
