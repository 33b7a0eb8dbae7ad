public import Turbulence

/// What the colours of a layer mean, as data: the answer of `/legend.json`, and what `LegendRenderer` draws.
public struct Legend: Sendable, Hashable, Encodable {
    /// One colour and its meaning.
    public struct Entry: Sendable, Hashable {
        public let severity: Severity
        public let paint: SeverityPaint
    }

    /// What a legend says where the data is invented.
    public static let simulatedNote = "Simulated data"

    /// The heading.
    public let title: String
    /// The style's id.
    public let style: String
    /// The layer's id.
    public let layer: String
    /// The style's own; a drawing may ask for the other.
    public let theme: Theme
    public let simulated: Bool
    /// Said below the entries; `simulatedNote` first where the data is simulated.
    public let notes: [String]
    /// Smooth first.
    public let entries: [Entry]

    /// - Parameters:
    ///   - severities: the ones the picture was asked for; others are left out.
    ///   - notes: plain sentences, for instance that the data is stale.
    public init(
        style: Style, layer: String, severities: SeveritySet = .all, title: String = "Turbulence",
        simulated: Bool = false, notes: [String] = []
    ) {
        self.title = title
        self.style = style.id
        self.layer = layer
        theme = style.theme
        self.simulated = simulated
        self.notes = (simulated ? [Legend.simulatedNote] : []) + notes.filter { $0 != Legend.simulatedNote }
        entries = Severity.allCases.filter { severities.contains($0) }.map {
            Entry(severity: $0, paint: style[$0])
        }
    }
}

extension Legend {
    private enum CodingKeys: String, CodingKey {
        case title, style, layer, theme, simulated, notes, entries
    }

    /// `title`, `style`, `layer`, `theme`, `simulated`, `notes`, `entries`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(title, forKey: .title)
        try container.encode(style, forKey: .style)
        try container.encode(layer, forKey: .layer)
        try container.encode(theme, forKey: .theme)
        try container.encode(simulated, forKey: .simulated)
        try container.encode(notes, forKey: .notes)
        try container.encode(entries, forKey: .entries)
    }
}

extension Legend.Entry: Encodable {
    private enum CodingKeys: String, CodingKey {
        case severity, name, label, fill, opacity, rgba, border
    }

    private struct Border: Encodable {
        let colour: String
        let opacity: Double
        let rgba: [UInt8]
    }

    /// `severity` (0–4), `name`, `label`, `fill` (`#RRGGBB`), `opacity` (0–1), `rgba` (the four bytes of a pixel wholly
    /// inside, straight alpha), and `border` (`colour`, `opacity`, `rgba`) where there is one.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(severity.rawValue, forKey: .severity)
        try container.encode(severity.name, forKey: .name)
        try container.encode(severity.label, forKey: .label)
        try container.encode(paint.fill.colour.hexadecimal, forKey: .fill)
        try container.encode(paint.fill.opacity, forKey: .opacity)
        try container.encode(paint.fill.colour.bytes, forKey: .rgba)
        if let border = paint.border {
            try container.encode(
                Border(colour: border.colour.hexadecimal, opacity: border.opacity, rgba: border.colour.bytes),
                forKey: .border)
        }
    }
}

extension StraightColour {
    /// Red, green, blue, alpha.
    fileprivate var bytes: [UInt8] { [red, green, blue, alpha] }
}
