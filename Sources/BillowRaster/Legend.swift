package import Datasets
public import Turbulence

/// The meaning of a layer's colours as data: the body of `/legend.json`, and the input of `LegendRenderer`.
public struct Legend: Sendable, Hashable, Encodable {
    /// A subject that a legend explains.
    package enum Subject: Sendable, Hashable {
        case severities, reports, traffic, tracks
        /// A turbulence field.
        case field
        /// The areas of a dataset.
        case areas([Dataset.AreaDrawing.LegendEntry])
    }

    /// A sign and its meaning.
    public struct Entry: Sendable, Hashable {
        package enum Sign: Sendable, Hashable {
            case severity(Severity, SeverityPaint)
            case report(ReportSymbol)
            case area(AreaAppearance)
            case aircraft
            case track
            /// An EDR of a style's scale, in m^(2/3)/s.
            case edr(Double, Paint)
            /// A field without a value.
            case missing
        }

        /// The text beside the sign.
        public let label: String
        package let sign: Sign

        /// The severity of the sign; nil if it has none.
        public var severity: Severity? {
            switch sign {
            case .severity(let severity, _): severity
            case .report(let symbol): symbol.severity
            case .area, .aircraft, .track, .edr, .missing: nil
            }
        }
    }

    /// The note in a legend of simulated data.
    public static let simulatedNote = "Simulated data"

    /// The heading.
    public let title: String
    /// The style's id.
    public let style: String
    /// The layer's id.
    public let layer: String
    /// The style's theme; a drawing may select the other.
    public let theme: Theme
    /// Whether the legend says that the data is simulated.
    public let simulated: Bool
    /// The notes below the entries. `simulatedNote` comes first if the data is simulated.
    public let notes: [String]
    /// The entries by subject; smooth comes first.
    public let entries: [Entry]
    /// The style of the signs.
    let drawn: Style

    /// - Parameters:
    ///   - layer: the ids of the layers, separated by commas.
    ///   - subjects: the subjects that those layers show.
    ///   - severities: the ones requested for the picture; others are left out.
    ///   - notes: plain sentences, for instance that the data is stale.
    ///   - style: the picture's style.
    ///   - title: the heading.
    ///   - simulated: whether the data is simulated, which adds a note.
    package init(
        style: Style, layer: String, subjects: [Subject] = [.severities], severities: SeveritySet = .all,
        title: String = "Turbulence", simulated: Bool = false, notes: [String] = []
    ) {
        self.title = title
        self.style = style.id
        self.layer = layer
        theme = style.theme
        self.simulated = simulated
        self.notes = (simulated ? [Legend.simulatedNote] : []) + notes.filter { $0 != Legend.simulatedNote }
        // Severities are explained once, even if several subjects show them.
        var seen = Set<Entry>()
        entries = subjects.flatMap { Legend.entries(of: $0, style, severities) }.filter { seen.insert($0).inserted }
        drawn = style
    }

    private static func entries(of subject: Subject, _ style: Style, _ severities: SeveritySet) -> [Entry] {
        let shown = Severity.allCases.filter { severities.contains($0) }
        switch subject {
        case .severities: return shown.map { Entry(label: $0.label, sign: .severity($0, style[$0])) }
        case .reports: return reports(shown, severities)
        case .areas(let areas):
            return areas.map { area in
                let subject: AreaAppearance.Subject = area.isOfTurbulence ? .turbulence : .other
                return Entry(
                    label: area.label,
                    sign: .area(AreaAppearance(kind: area.sign, subject: subject, isFaint: area.isFaint)))
            }
        case .traffic: return [Entry(label: "Aircraft", sign: .aircraft)]
        case .tracks: return [Entry(label: "Track", sign: .track)]
        case .field: return field(style.field, shown, style)
        }
    }

    private static func field(_ paint: FieldPaint, _ shown: [Severity], _ style: Style) -> [Entry] {
        let values =
            paint.isByScale
            ? paint.scale.map { Entry(label: "EDR \($0.text)", sign: .edr($0.edr, $0.paint)) }
            : shown.filter { $0 != .smooth }.map { Entry(label: $0.label, sign: .severity($0, style[$0])) }
        return values + [Entry(label: "No data", sign: .missing)]
    }

    private static func reports(_ shown: [Severity], _ severities: SeveritySet) -> [Entry] {
        func entry(_ label: String, _ severity: Severity?, isUrgent: Bool = false) -> Entry {
            Entry(label: label, sign: .report(ReportSymbol(severity: severity, isUrgent: isUrgent)))
        }
        var entries = shown.map { entry("Report: \($0.label)", $0) }
        entries.append(entry("Urgent report", shown.last ?? .moderateSevere, isUrgent: true))
        if severities == .all { entries.append(entry("No word on turbulence", nil)) }
        return entries
    }
}

extension Legend.Entry {
    /// The drawing of the sign; nil for a severity, whose swatch is a hexagon.
    func drawing(_ style: Style) -> Drawing? {
        switch sign {
        case .severity: nil
        case .report(let symbol): symbol.drawing(style)
        case .area(let appearance): appearance.swatch(style)
        case .aircraft: AircraftSymbol(headingDegrees: 45).drawing(style.marks)
        case .track: TrackSymbol.drawing(style.marks)
        case .edr(_, let paint): FieldSwatch.drawing(paint.colour, style.marks)
        case .missing: FieldSwatch.missing(style)
        }
    }
}

extension Legend {
    private enum CodingKeys: String, CodingKey {
        case title, style, layer, theme, simulated, notes, entries
    }

    /// Encodes `title`, `style`, `layer`, `theme`, `simulated`, `notes` and `entries`.
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
        case severity, name, label, fill, opacity, rgba, border, pattern, symbol, urgent, kind, subject, ending, edr
    }

    private struct Border: Encodable {
        let colour: String
        let opacity: Double
        let rgba: [UInt8]

        init(_ paint: Paint) {
            colour = paint.colour.hexadecimal
            opacity = paint.opacity
            rgba = paint.colour.bytes
        }
    }

    private struct PatternForm: Encodable {
        let kind: String
        let colour: String
        let opacity: Double
        let spacing: Int
        let width: Double

        init(_ pattern: SeverityPattern) {
            kind = pattern.kind.rawValue
            colour = pattern.paint.colour.hexadecimal
            opacity = pattern.paint.opacity
            spacing = pattern.spacing
            width = pattern.width
        }
    }

    /// Encodes a severity as `severity` (0–4), `name`, `label`, `fill` (`#RRGGBB`), `opacity` (0–1) and `rgba`. `rgba`
    /// has the four bytes of a completely covered pixel, with straight alpha. `border` (`colour`, `opacity`, `rgba`)
    /// and `pattern` are added if there are any.
    ///
    /// Other entries are encoded as `label`, `symbol` (`report`, `area`, `aircraft`, `track`, `edr`, `missing`) and the
    /// properties of that symbol.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(label, forKey: .label)
        if let severity {
            try container.encode(severity.rawValue, forKey: .severity)
            try container.encode(severity.name, forKey: .name)
        }
        switch sign {
        case .severity(_, let paint):
            try container.encode(paint.fill.colour.hexadecimal, forKey: .fill)
            try container.encode(paint.fill.opacity, forKey: .opacity)
            try container.encode(paint.fill.colour.bytes, forKey: .rgba)
            try container.encodeIfPresent(paint.border.map(Border.init), forKey: .border)
            try container.encodeIfPresent(paint.pattern.map(PatternForm.init), forKey: .pattern)
        case .report(let symbol):
            try container.encode("report", forKey: .symbol)
            try container.encode(symbol.isUrgent, forKey: .urgent)
        case .area(let appearance):
            try container.encode("area", forKey: .symbol)
            try container.encode(appearance.kind.name, forKey: .kind)
            try container.encode(appearance.subject == .turbulence ? "turbulence" : "other", forKey: .subject)
            if appearance.isFaint { try container.encode(true, forKey: .ending) }
        case .aircraft: try container.encode("aircraft", forKey: .symbol)
        case .track: try container.encode("track", forKey: .symbol)
        case .edr(let edr, let paint):
            try container.encode("edr", forKey: .symbol)
            try container.encode(edr, forKey: .edr)
            try container.encode(paint.colour.hexadecimal, forKey: .fill)
            try container.encode(paint.opacity, forKey: .opacity)
            try container.encode(paint.colour.bytes, forKey: .rgba)
        case .missing: try container.encode("missing", forKey: .symbol)
        }
    }
}

extension StraightColour {
    /// The bytes of red, green, blue and alpha.
    fileprivate var bytes: [UInt8] { [red, green, blue, alpha] }
}
