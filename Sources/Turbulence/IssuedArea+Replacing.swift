extension IssuedArea {
    /// The kind of domestic SIGMETs of the United States.
    package static let sigmetKind = "sigmet"

    /// Whether this is a domestic SIGMET in the place of another that was issued before: of one of its name; and
    /// convective ones, which have new numbers in each bulletin, of those of its region. Regions without any have a
    /// bulletin too, at 55
    /// minutes past each hour, that says so: where one of them is known, those of that hour were issued for all.
    ///
    /// Source: FAA Aeronautical Information Manual, chapter 7 section 1, convective SIGMET
    package func replaces(_ other: IssuedArea) -> Bool {
        guard kind == Self.sigmetKind, other.kind == kind, source == other.source, collection == other.collection else {
            return false
        }
        if id == other.id { return true }
        guard let region = convectiveRegion, let otherRegion = other.convectiveRegion, let issuedAt,
            other.issuedAt ?? .distantPast < issuedAt
        else { return false }
        return region == otherRegion || issuedAt.seconds / 60 % 60 == 55
    }

    /// The `e` of `sigmet-62e-2`; nil for what isn't convective.
    private var convectiveRegion: Character? {
        hazard == "CONVECTIVE" ? id.split(separator: "-").dropFirst().first?.last : nil
    }
}
