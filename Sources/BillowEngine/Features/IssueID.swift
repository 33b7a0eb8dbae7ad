import Turbulence

/// The id of an earlier issue of an area, in responses with several issues of it: `{id}-{validFrom}`. The last issue
/// has the area's own id.
struct IssueID: Sendable, Hashable {
    let area: String
    let validFrom: Instant

    init(_ area: IssuedArea) {
        self.area = area.id
        validFrom = area.validFrom
    }

    /// Returns nil for a text that doesn't end with an instant.
    init?(_ text: String) {
        guard let dash = text.lastIndex(of: "-"), let instant = Instant(String(text[text.index(after: dash)...])) else {
            return nil
        }
        area = String(text[..<dash])
        validFrom = instant
        guard self.text == text else { return nil }
    }

    var text: String { "\(area)-\(validFrom.compact)" }
}
