/// A kind of data that sources feed into the log, and that datasets are made of.
///
/// The log stores the name, so the meaning of a name must not change. The kinds below are the records that have tables
/// of their own. A dataset of issued areas has its own kind in its folder.
package struct FeedKind: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The reports from which turbulence, hexagons and polygons are made.
    package static let observations = FeedKind(rawValue: "observations")
    /// Pilot reports.
    package static let reports = FeedKind(rawValue: "reports")
    /// The positions of aircraft, for traffic and tracks.
    package static let positions = FeedKind(rawValue: "positions")
    /// Grids of computed turbulence: nowcasts and forecasts.
    package static let fields = FeedKind(rawValue: "fields")
}

extension FeedKind {
    private static let confirmationEnding = "@server"

    /// The kind under which a source stores when a mirrored server last confirmed that this kind is current. The fetch
    /// time of the kind itself is the time of that server's data.
    package var confirmation: FeedKind { FeedKind(rawValue: rawValue + Self.confirmationEnding) }

    /// Whether it is the `confirmation` of another kind.
    package var isConfirmation: Bool { rawValue.hasSuffix(Self.confirmationEnding) }
}
