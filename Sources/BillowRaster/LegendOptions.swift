/// The direction in which a legend's entries are arranged.
public enum Orientation: String, Sendable, Hashable, CaseIterable {
    /// From top to bottom.
    case vertical
    /// From left to right.
    case horizontal
}

/// The options of a legend's drawing.
public struct LegendOptions: Sendable, Hashable {
    /// The allowed numbers of pixels per point.
    public static let scales = 1...3

    /// Pixels per point, one of `scales`.
    public let scale: Int
    /// The theme; nil selects the style's own.
    public let theme: Theme?
    /// The direction of the entries.
    public let orientation: Orientation

    /// - Throws: `scaleOutOfRange`.
    public init(scale: Int = 1, theme: Theme? = nil, orientation: Orientation = .vertical) throws(LegendError) {
        guard LegendOptions.scales.contains(scale) else { throw .scaleOutOfRange(scale) }
        self.scale = scale
        self.theme = theme
        self.orientation = orientation
    }
}

/// Why a legend can't be drawn.
public enum LegendError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The scale is not in `LegendOptions.scales`.
    case scaleOutOfRange(Int)
    /// The text can't be drawn.
    case text(TextError)
    /// The picture is too large.
    case canvas(CanvasError)
    /// The picture can't be encoded.
    case png(PNGError)

    public var description: String {
        switch self {
        case .scaleOutOfRange(let scale):
            "scale \(scale); must be \(LegendOptions.scales.lowerBound) to \(LegendOptions.scales.upperBound)"
        case .text(let error): "\(error)"
        case .canvas(let error): "\(error)"
        case .png(let error): "\(error)"
        }
    }
}
