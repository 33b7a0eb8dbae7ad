/// How the entries of a legend follow each other.
public enum Orientation: String, Sendable, Hashable, CaseIterable {
    /// One below the other.
    case vertical
    /// One beside the other.
    case horizontal
}

/// How a legend is to be drawn.
public struct LegendOptions: Sendable, Hashable {
    /// Pixels a point.
    public static let scales = 1...3

    /// Pixels a point, one of `scales`.
    public let scale: Int
    /// nil: the style's own.
    public let theme: Theme?
    /// How its entries follow each other.
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
    /// The scale is none of `LegendOptions.scales`.
    case scaleOutOfRange(Int)
    /// Its words can't be drawn.
    case text(TextError)
    /// Its picture is too large.
    case canvas(CanvasError)
    /// Its picture can't be encoded.
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
