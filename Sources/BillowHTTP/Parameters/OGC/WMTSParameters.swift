package import BillowEngine
package import BillowRaster
package import BillowSnapshot
import BillowTiles
import Turbulence

/// The parameters of WMTS GetTile, with Billow's own (`KVPReader.ownNames`) beside them.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `LAYER` | layer, or a list, the lowest first | `Catalogue.layers` | required |
/// | `STYLE` | style | the style library | `skypath` |
/// | `FORMAT` | media type | image/png | image/png |
/// | `TILEMATRIXSET` | name | WebMercatorQuad | required |
/// | `TILEMATRIX`, `TILEROW`, `TILECOL` | whole numbers | the grid | required |
/// | `TIME` | `OGCTime` | the layer's extent | current |
package struct WMTSTileParameters: Sendable {
    package let tile: TileParameters
    package let time: OGCTime

    /// The names of the only tile matrix set.
    ///
    /// Source: OGC 17-083r4 annex D.1 (WebMercatorQuad); OGC 07-057r7 annex E.4 (GoogleMapsCompatible)
    package static let matrixSets = ["WebMercatorQuad", "GoogleMapsCompatible"]

    /// Reads KVP parameters.
    ///
    /// - Parameters:
    ///   - frames: supplies the extent for intervals.
    ///   - snapshot: the snapshot of that extent.
    package init(_ kvp: KVPReader, styles: StyleLibrary, _ frames: FrameSource, in snapshot: Snapshot)
        throws(OGCException)
    {
        if let format = kvp.text("FORMAT"), !WMSMapParameters.isPNG(format) {
            throw OGCException(.invalidParameterValue, "FORMAT", format, expected: "image/png")
        }
        try self.init(
            layer: kvp.required("LAYER"), style: kvp.text("STYLE") ?? "", time: kvp.text("TIME") ?? "",
            set: kvp.required("TILEMATRIXSET"), matrix: kvp.required("TILEMATRIX"), row: kvp.required("TILEROW"),
            column: kvp.required("TILECOL"), kvp, styles: styles, frames, in: snapshot)
    }

    /// Reads the parts of a RESTful path.
    package init(
        layer: String, style: String, time: String, set: String, matrix: String, row: String, column: String,
        _ kvp: KVPReader, styles: StyleLibrary, _ frames: FrameSource, in snapshot: Snapshot
    ) throws(OGCException) {
        let layers = try WMSMapParameters.layers(layer, "LAYER")
        guard Self.matrixSets.contains(set) else {
            throw OGCException(
                .invalidParameterValue, "TILEMATRIXSET", set, expected: Self.matrixSets[0])
        }
        guard let parsed = OGCTime(time) else {
            throw OGCException(.invalidParameterValue, "TIME", time, expected: OGCTime.expected)
        }
        var own = try WMSMapParameters.own(kvp)
        // An unknown style is an invalid parameter value, because WMTS has no specific code for it.
        let found = try styles.style(named: style, opacity: own, locator: "STYLE")
        own = QueryReader(own.all.merging(["style": found.id]) { $1 })
        let place = try translated { () throws(ParameterProblem) in
            try TilePath(z: matrix, x: column, y: "\(row).png", names: .wmts)
        }
        self.time = parsed
        tile = try translated { () throws(ParameterProblem) in
            try TileParameters(
                layers: layers, time: parsed.requested(of: layers, frames, in: snapshot), place: place, revision: nil,
                own, styles: styles)
        }
    }
}

/// The pixel of a WMTS GetFeatureInfo request.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `I`, `J` | pixels from the tile's north-west | 0…255 | required |
/// | `INFOFORMAT` | media type | `FeatureInfoFormat` | application/json |
package struct WMTSPoint: Sendable {
    package let column: Int
    package let row: Int

    private static let range = 0...TileScale.one.pixels - 1

    package init(_ kvp: KVPReader) throws(OGCException) {
        column = try kvp.integer("I", in: Self.range, .pointOutOfRange)
        row = try kvp.integer("J", in: Self.range, .pointOutOfRange)
    }

    /// Reads the parts of a RESTful path.
    package init(column: String, row: String) throws(OGCException) {
        self = try WMTSPoint(KVPReader([("I", column), ("J", row)].map { (name: $0.0, value: $0.1) }))
    }
}
