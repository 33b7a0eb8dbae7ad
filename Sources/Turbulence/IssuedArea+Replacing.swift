extension IssuedArea {
    /// The kind of domestic SIGMETs of the United States.
    package static let sigmetKind = "sigmet"

    /// Whether this is a domestic SIGMET that supersedes another, issued earlier. It supersedes those of the same name.
    ///
    /// Convective SIGMETs have new numbers in each bulletin, and supersede those of their region. At 55 minutes past
    /// each hour, regions without any SIGMET have a bulletin too, which says so. So if one convective SIGMET of that
    /// hour is known, bulletins were issued for all regions.
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

    /// The `e` of `sigmet-62e-2`; nil for an area that isn't convective.
    private var convectiveRegion: Character? {
        hazard == "CONVECTIVE" ? id.split(separator: "-").dropFirst().first?.last : nil
    }
}
