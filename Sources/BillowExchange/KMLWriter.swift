package import Datasets
import Geometry
package import Turbulence

/// The name, description and colours of a KML document.
package struct KMLStyle: Sendable {
    /// The colours of a severity.
    package struct Colours: Sendable {
        /// Red, green, blue and alpha, not premultiplied.
        package var fill: [UInt8]
        package var border: [UInt8]

        package init(fill: [UInt8], border: [UInt8]) {
            self.fill = fill
            self.border = border
        }
    }

    /// The document's name and description.
    package var name: String
    package var description: String
    /// The colours of each severity.
    package var colours: [Severity: Colours]

    package init(name: String, description: String, colours: [Severity: Colours]) {
        self.name = name
        self.description = description
        self.colours = colours
    }

    /// The colours of features without a severity.
    static let plain = Colours(fill: [47, 95, 160, 128], border: [47, 95, 160, 255])
}

/// A folder of a KML document: the features of a severity, or those without one.
package enum KMLFolder: Sendable, Hashable {
    case severity(Severity)
    case other

    /// The folders in which a dataset's features lie, the worst last and so on top; without severities none.
    package static func all(of dataset: Dataset) -> [KMLFolder] {
        guard dataset.property(.severity) != nil else { return [] }
        return [.other] + Severity.allCases.map { .severity($0) }
    }

    var style: String {
        switch self {
        case .severity(let severity): severity.name
        case .other: "other"
        }
    }

    var title: String {
        switch self {
        case .severity(let severity): severity.label
        case .other: "Without severity"
        }
    }
}

/// Writes placemarks of KML as text.
///
/// Source: OGC 07-147r2 (KML 2.2)
struct KMLWriter: Sendable {
    private let dataset: Dataset
    private let design: KMLStyle
    private let isSimulated: Bool
    private let properties: [Property]
    /// The names of the properties with a role.
    private let names: [Property.Role: String]
    /// The names of the properties that are names for people, the best first.
    private let titles: [String]
    /// The folders of the written features, each with the place at which its bytes begin.
    private(set) var sections: [(folder: KMLFolder, start: Int)] = []

    private static let metresPerFoot = 0.3048
    /// The property with the feature's id.
    static let id = "featureId"

    init(_ dataset: Dataset, _ design: KMLStyle?, isSimulated: Bool) {
        self.dataset = dataset
        self.design = design ?? KMLStyle(name: dataset.title, description: dataset.summary, colours: [:])
        self.isSimulated = isSimulated
        properties = dataset.properties.filter { !$0.isOfTilesOnly }
        var names: [Property.Role: String] = [:]
        var titles: [(rank: Int, name: String)] = []
        for property in properties {
            guard let role = property.role else { continue }
            names[role] = "\(property.name)"
            if case .title(let rank) = role { titles.append((rank, "\(property.name)")) }
        }
        self.names = names
        self.titles = titles.sorted { $0.rank < $1.rank }.map(\.name)
    }

    // MARK: - Document

    func begin(_ text: inout [UInt8]) {
        text += Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <kml xmlns="http://www.opengis.net/kml/2.2"><Document id="billow"><name>\(Self.escaped(design.name))</name>
            <description>\(Self.escaped(design.description))</description>

            """.utf8)
        for severity in Severity.allCases {
            style(.severity(severity), design.colours[severity] ?? KMLStyle.plain, &text)
        }
        style(.other, KMLStyle.plain, &text)
        text += Array("<Schema name=\"\(dataset.id)\" id=\"\(dataset.id)\">".utf8)
        field(Self.id, "string", &text)
        for property in properties { field("\(property.name)", property.kmlType, &text) }
        if isSimulated { field("simulated", "bool", &text) }
        text += Array("</Schema>\n".utf8)
    }

    func end(_ text: inout [UInt8]) {
        text += Array("</Document></kml>\n".utf8)
    }

    func begin(_ folder: KMLFolder, _ text: inout [UInt8]) {
        text += Array("<Folder><name>\(Self.escaped(folder.title))</name>\n".utf8)
    }

    func endFolder(_ text: inout [UInt8]) { text += Array("</Folder>\n".utf8) }

    /// Must be called when the buffer is emptied. A feature that is partly written goes on in its folder.
    mutating func restartSections() { sections = sections.last.map { [($0.folder, 0)] } ?? [] }

    private func field(_ name: String, _ type: String, _ text: inout [UInt8]) {
        text += Array("<SimpleField type=\"\(type)\" name=\"\(name)\"/>".utf8)
    }

    private func style(_ folder: KMLFolder, _ colours: KMLStyle.Colours, _ text: inout [UInt8]) {
        let (fill, border) = (Self.colour(colours.fill), Self.colour(colours.border))
        text += Array(
            """
            <Style id="\(folder.style)"><IconStyle><color>\(border)</color><scale>0.6</scale></IconStyle>\
            <LabelStyle><scale>0</scale></LabelStyle><LineStyle><color>\(border)</color><width>1.5</width></LineStyle>\
            <PolyStyle><color>\(fill)</color></PolyStyle></Style>

            """.utf8)
    }

    /// Alpha, blue, green and red as hexadecimal digits.
    private static func colour(_ colour: [UInt8]) -> String {
        [3, 2, 1, 0].map { place in
            let digits = String(colour.indices.contains(place) ? colour[place] : 255, radix: 16)
            return digits.utf8.count == 1 ? "0\(digits)" : digits
        }.joined()
    }

    // MARK: - Placemarks

    mutating func write(_ feature: Feature, _ text: inout [UInt8]) {
        begin(feature, &text)
        let height = height(of: feature)
        geometry(feature.geometry, height, &text)
        endPlacemark(&text)
    }

    /// Begins a placemark, up to its geometry.
    mutating func begin(_ feature: Feature, _ text: inout [UInt8]) {
        let own = folder(of: feature)
        if sections.last?.folder != own { sections.append((own, text.count)) }
        text += Array("<Placemark><name>\(Self.escaped(name(of: feature)))</name>".utf8)
        time(of: feature, &text)
        text += Array("<styleUrl>#\(own.style)</styleUrl><ExtendedData><SchemaData schemaUrl=\"#\(dataset.id)\">".utf8)
        data(Self.id, Self.escaped(feature.id), &text)
        for (name, value) in feature.properties { data("\(name)", Self.text(of: value), &text) }
        if isSimulated { data("simulated", "1", &text) }
        text += Array("</SchemaData></ExtendedData>".utf8)
    }

    func endPlacemark(_ text: inout [UInt8]) { text += Array("</Placemark>\n".utf8) }

    private func data(_ name: String, _ value: String, _ text: inout [UInt8]) {
        text += Array("<SimpleData name=\"\(name)\">\(value)</SimpleData>".utf8)
    }

    private func folder(of feature: Feature) -> KMLFolder {
        guard case .integer(let number)? = value(.severity, of: feature),
            let severity = UInt8(exactly: number).flatMap({ Severity(rawValue: $0) })
        else { return .other }
        return .severity(severity)
    }

    /// The name of a feature for people.
    private func name(of feature: Feature) -> String {
        for name in titles {
            if case .text(let text)? = feature.value(name) { return text }
        }
        return feature.id
    }

    /// The value of the property with a role; nil if the feature has none.
    private func value(_ role: Property.Role, of feature: Feature) -> PropertyValue? {
        names[role].flatMap { feature.value($0) }
    }

    /// Writes the time of a feature: the range from its start to its end, or the instant that `datetime` filters by.
    private func time(of feature: Feature, _ text: inout [UInt8]) {
        func instant(_ role: Property.Role) -> Instant? {
            if case .instant(let instant)? = value(role, of: feature) { instant } else { nil }
        }
        let (begin, end) = (instant(.start), instant(.end))
        if begin != nil || end != nil {
            let parts = [begin.map { "<begin>\($0)</begin>" }, end.map { "<end>\($0)</end>" }].compactMap(\.self)
            text += Array("<TimeSpan>\(parts.joined())</TimeSpan>".utf8)
        } else if let when = instant(.time) {
            text += Array("<TimeStamp><when>\(when)</when></TimeStamp>".utf8)
        }
    }

    private static func text(of value: PropertyValue) -> String {
        switch value {
        case .text(let text): return escaped(text)
        case .integer(let number): return "\(number)"
        case .decimal(let number, let decimals):
            var bytes: [UInt8] = []
            return bytes.appendDecimal(number, decimals: decimals) ? String(decoding: bytes, as: UTF8.self) : ""
        case .flag(let flag): return flag ? "1" : "0"
        case .instant(let instant): return instant.description
        case .instants(let instants): return instants.map(\.description).joined(separator: " ")
        case .groups: return escaped(value.json)
        }
    }

    // MARK: - Geometry

    /// The height of a feature in metres, and its reference; nil for a feature on the ground.
    struct Height: Sendable {
        private var metres: Double?
        private var isAboveGround = false

        fileprivate init(feet: PropertyValue?, reference: PropertyValue?) {
            if case .integer(let feet)? = feet { metres = Double(feet) * KMLWriter.metresPerFoot }
            if case .text("AGL")? = reference { isAboveGround = true }
        }

        var mode: String {
            guard metres != nil else { return "" }
            return "<altitudeMode>\(isAboveGround ? "relativeToGround" : "absolute")</altitudeMode>"
        }

        func append(_ place: LonLat, to text: inout [UInt8]) {
            _ = text.appendDecimal(place.longitude, decimals: FeatureWriter.coordinateDecimals)
            text.append(UInt8(ascii: ","))
            _ = text.appendDecimal(place.latitude, decimals: FeatureWriter.coordinateDecimals)
            if let metres {
                text.append(UInt8(ascii: ","))
                _ = text.appendDecimal(metres, decimals: 1)
            }
            text.append(UInt8(ascii: " "))
        }
    }

    /// The height at which a feature is drawn: its altitude, or its lower limit.
    func height(of feature: Feature) -> Height {
        Height(
            feet: value(.altitude, of: feature) ?? value(.lowerAltitude, of: feature),
            reference: value(.altitudeReference, of: feature))
    }

    private func geometry(_ geometry: FeatureGeometry, _ height: Height, _ text: inout [UInt8]) {
        switch geometry {
        case .point(let place):
            text += Array("<Point>\(height.mode)<coordinates>".utf8)
            height.append(place, to: &text)
            text += Array("</coordinates></Point>".utf8)
        case .polygon(let rings): polygon(rings, height, &text)
        case .multiPolygon(let polygons):
            beginParts(&text)
            for rings in polygons { polygon(rings, height, &text) }
            endParts(&text)
        case .lineString(let line): self.line(line, height, &text)
        case .multiLineString(let lines):
            beginParts(&text)
            for line in lines { self.line(line, height, &text) }
            endParts(&text)
        // JSON already; no export has it.
        case .encoded: break
        }
    }

    func beginParts(_ text: inout [UInt8]) { text += Array("<MultiGeometry>".utf8) }
    func endParts(_ text: inout [UInt8]) { text += Array("</MultiGeometry>".utf8) }

    func polygon(_ rings: [[LonLat]], _ height: Height, _ text: inout [UInt8]) {
        text += Array("<Polygon>\(height.mode)".utf8)
        for (number, ring) in rings.enumerated() {
            let side = number == 0 ? "outerBoundaryIs" : "innerBoundaryIs"
            text += Array("<\(side)><LinearRing><coordinates>".utf8)
            for place in ring { height.append(place, to: &text) }
            text += Array("</coordinates></LinearRing></\(side)>".utf8)
        }
        text += Array("</Polygon>".utf8)
    }

    private func line(_ line: [LonLat], _ height: Height, _ text: inout [UInt8]) {
        text += Array("<LineString><tessellate>1</tessellate>\(height.mode)<coordinates>".utf8)
        for place in line { height.append(place, to: &text) }
        text += Array("</coordinates></LineString>".utf8)
    }

    /// Text for an element. Characters that XML 1.0 forbids become U+FFFD.
    ///
    /// Source: Extensible Markup Language (XML) 1.0 (Fifth Edition), section 2.2
    private static func escaped(_ text: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            byte >= 0x20 && byte < 0x7F && ![UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">")].contains(byte)
        }
        if text.utf8.allSatisfy(isPlain) { return text }
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\t", "\n", "\r", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                result.unicodeScalars.append(character)
            default: result += "\u{FFFD}"
            }
        }
        return result
    }
}

extension Feature {
    /// The value of a property; nil if it has none.
    fileprivate func value(_ name: String) -> PropertyValue? { properties.first { "\($0.name)" == name }?.value }
}

extension Property {
    /// Source: OGC 07-147r2 section 9.3, `kml:SimpleField`
    fileprivate var kmlType: String {
        switch type {
        case .integer: "int"
        case .decimal: "double"
        case .flag: "bool"
        case .text, .instant, .instants, .groups: "string"
        }
    }
}
