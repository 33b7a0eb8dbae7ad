/// How the entries of a legend follow each other.
public enum Orientation: String, Sendable, Hashable, CaseIterable {
    case vertical
    case horizontal
}

/// How a legend is to be drawn.
public struct LegendOptions: Sendable, Hashable {
    /// Pixels a point.
    public static let scales = 1...3

    public let scale: Int
    /// nil: the style's own.
    public let theme: Theme?
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
    case scaleOutOfRange(Int)
    case text(TextError)
    case canvas(CanvasError)
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
