/// The id of an issue of an area in the responses for a server that mirrors this one:
/// `{source}/{area}@{Unix seconds of validFrom}`. It names one area among all sources and times.
package struct MirroredAreaID: Sendable, Hashable {
    package let source: String
    package let area: String
    package let validFrom: Instant

    package init(_ area: IssuedArea) {
        source = area.source.name
        self.area = area.id
        validFrom = area.validFrom
    }

    /// Parses `text`; nil for any other text.
    package init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/"), let at = text.lastIndex(of: "@"), slash < at,
            let seconds = Int(text[text.index(after: at)...]), let validFrom = Instant(seconds: seconds)
        else { return nil }
        source = String(text[..<slash])
        area = String(text[text.index(after: slash)..<at])
        self.validFrom = validFrom
        guard self.text == text, !area.isEmpty else { return nil }
    }

    package var text: String { "\(source)/\(area)@\(validFrom.seconds)" }
}
