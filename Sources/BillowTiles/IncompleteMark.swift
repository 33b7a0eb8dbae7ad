import BillowRaster

/// Marks a picture that lacks data with thin grey lines all over it. They are twice as far apart as those of hatched
/// areas. Their position depends on the world's pixels, so they continue from tile to tile.
enum IncompleteMark {
    /// The distance between lines and their width, in points. A tile's width is a multiple of the distance.
    private static let (period, width) = (32, 1.0)
    /// The patterns by scale, from 1 on.
    private static let patterns = (1...3).map { Pattern(.backHatch, period: period * $0, width: width * Double($0)) }

    /// The lines at their position in a region.
    static func pattern(in region: MapRegion) -> PlacedPattern {
        PlacedPattern(patterns[region.scale - 1], originX: region.originX, originY: region.originY)
    }

    static func paint(_ region: MapRegion, theme: Theme, onto canvas: inout Canvas) {
        let pattern = pattern(in: region)
        let (right, bottom) = (Double(region.width), Double(region.height))
        let whole = [
            Point(x: 0, y: 0), Point(x: right, y: 0), Point(x: right, y: bottom), Point(x: 0, y: bottom),
        ]
        canvas.fill([whole], with: colour(theme), pattern: pattern)
    }

    /// The lines' colour: visible on a base map of the theme, and unlike any severity.
    static func colour(_ theme: Theme) -> StraightColour {
        switch theme {
        case .light: StraightColour(red: 0x3C, green: 0x46, blue: 0x50, alpha: 110)
        case .dark: StraightColour(red: 0xD8, green: 0xDE, blue: 0xE4, alpha: 110)
        }
    }
}
