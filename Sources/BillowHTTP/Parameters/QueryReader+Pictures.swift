import BillowEngine
package import BillowRaster
package import BillowTiles
import Datasets
import Geometry
import Turbulence

extension QueryReader {
    /// Whether incomplete frames are hatched.
    func hatchesIncomplete() throws(ParameterProblem) -> Bool {
        try choice("incomplete", [("hatch", true), ("none", false)]) ?? false
    }

    /// What lies below a picture's data: nothing, a colour, or the base map in the colours of the style's theme or of a
    /// named one.
    func ground(_ style: Style) throws(ParameterProblem) -> MapGround? {
        guard let text = text("background") else { return nil }
        switch text {
        case "none": return nil
        case "map": return .baseMap(style.theme)
        default: break
        }
        if let theme = Theme(rawValue: text) { return .baseMap(theme) }
        guard text.utf8.count == 6, let colour = StraightColour("#\(text)") else {
            throw invalid("background", text, "none, map, light, dark, or a colour as six hexadecimal digits")
        }
        return .colour(colour)
    }

    /// The width and height of a tile in points.
    func tileSize() throws(ParameterProblem) -> TileSize {
        try choice("size", TileSize.allCases.map { ("\($0.rawValue)", $0) }) ?? .standard
    }

    /// The width and height of a tile in points, which must have the detail of a zoom that tiles have.
    func tileSize(of place: TilePath) throws(ParameterProblem) -> TileSize {
        let size = try tileSize()
        guard size.scales.contains(place.scale) else {
            throw invalid("size", "\(size.rawValue)", "256 with @\(place.scale.rawValue)x")
        }
        let finest = TileCoord.maximumZoom - size.addedZooms
        guard place.coord.z <= finest else {
            throw ParameterProblem(
                ParameterError(
                    parameter: "z", value: "\(place.coord.z)",
                    expected: "from 0 to \(finest) with size=\(size.rawValue)"), .outsideGrid)
        }
        return size
    }

    /// The most labelled aircraft in a block.
    func labels() throws(ParameterProblem) -> Int {
        try integer("labels", in: PictureContent.labelCounts) ?? PictureContent.defaultLabels
    }

    /// The layers of a legend.
    package func layers(_ name: String) throws(ParameterProblem) -> LayerList {
        let text = text(name) ?? Dataset.hexagons.id
        do { return try LayerList(text) } catch {
            throw invalid(
                name, text, "a list without repeats of " + Catalogue.layers.map(\.id).joined(separator: ", "))
        }
    }

    /// The region from `bbox`, `width`, `height` and `scale`; one side determines the other.
    func region(defaultWidth: Int) throws(ParameterProblem) -> MapRegion {
        let box = try bbox() ?? .world
        func unusable(_ expected: String) -> ParameterProblem { invalid("bbox", text("bbox") ?? "", expected) }
        guard box.south < box.north, box.west != box.east, !(box.west == 180 && box.east == -180) else {
            throw unusable("a box with an area")
        }
        // The projection ends here. A part beyond it would be empty, which would look like an absence of turbulence.
        // A box that is cut there would be stretched to the requested size.
        let end = UnitMercator.maximumLatitude + 0.001
        guard !has("bbox") || box.south >= -end && box.north <= end else {
            throw unusable("a box between 85.0511 degrees south and north, where web mercator ends")
        }
        // A filter with such a box covers the world, but an image would show another region than the requested one.
        guard try bboxWidth() ?? 360 <= 360 else { throw unusable("a box at most 360 degrees wide") }
        let width = try integer("width", in: MapRegion.sides)
        let height = try integer("height", in: MapRegion.sides)
        let scale = try integer("scale", in: 1...3) ?? 1
        let across = width ?? height.map { MapRegion.width(of: box, height: $0) } ?? defaultWidth
        guard
            let region = MapRegion(
                box, width: across, height: height ?? MapRegion.height(of: box, width: across), scale: scale)
        else { throw unusable("a box that fits a picture") }
        return region
    }
}

extension LayerList {
    /// Parses the layers in a path.
    package init(parameter text: some StringProtocol) throws(ParameterProblem) {
        do { try self.init(text) } catch {
            switch error {
            case .unusable(let error): throw ParameterProblem(error)
            case .unknown(let name):
                throw ParameterProblem(
                    .unknownLayer, detail: "There is no layer '\(name)'.", parameter: "layers",
                    value: name, allowed: Catalogue.layers.map(\.id).joined(separator: ", "))
            }
        }
    }
}

extension StyleLibrary {
    /// The requested style and opacity.
    /// - Parameter theme: nil for the style's own.
    package func style(_ query: QueryReader, theme: Theme? = nil) throws(ParameterProblem) -> Style {
        let id = query.text("style") ?? StyleLibrary.defaultID
        guard let found = self[id] else {
            throw query.invalid("style", id, styles.map(\.id).joined(separator: ", "))
        }
        let style = theme.map { found.made(for: $0) } ?? found
        guard let text = query.text("opacity") else { return style }
        guard let opacity = QueryReader.decimal(text), opacity >= 0, opacity <= 1 else {
            throw query.invalid("opacity", text, "a number from 0 to 1")
        }
        return style.faded(by: opacity)
    }
}
