import AviationWeather
import BillowSync
import BillowTimeline
import Datasets
import Foundation
import OpenSky
import SkyPath
import Turbulence

extension Settings {
    struct Source: Sendable, Hashable {
        var id: SourceID
        var kind: Kind
        var update: UpdateFrequency
        /// Whether its data is simulated; nil if its responses decide.
        var simulated: Bool?
        /// Overrides the general setting for this source.
        var staleAfterSeconds: Int?

        /// The kind of upstream, with its settings.
        enum Kind: Sendable, Hashable {
            case skyPath(SkyPathSettings)
            case aviationWeather(AviationWeatherSettings)
            case openSky(OpenSkySettings)
            case noaa(NOAASettings)
            case billow(BillowSettings)
            case inbox(InboxSettings)

            /// The name in the settings.
            var name: String {
                switch self {
                case .skyPath: SkyPathUpstream.kind
                case .aviationWeather: AviationWeatherUpstream.kind
                case .openSky: OpenSkyUpstream.kind
                case .noaa: NOAAUpstream.kind
                case .billow: BillowUpstream.kind
                case .inbox: InboxUpstream.kind
                }
            }
        }

        /// The kinds of data that it feeds, which become stale without a fetch.
        var feeds: Set<FeedKind> {
            switch kind {
            case .skyPath(let settings): settings.query.kinds
            case .aviationWeather(let settings): Set(settings.products.flatMap(\.feeds))
            case .openSky, .noaa: Catalogue.kinds(of: kind.name)
            case .billow(let settings): Set(settings.datasets.map(\.kind))
            // The files of a folder may be a year apart.
            case .inbox: []
            }
        }
    }
}

extension Settings.Source {
    /// The kinds of sources, by their names in the settings.
    static let kinds = [
        SkyPathUpstream.kind, AviationWeatherUpstream.kind, OpenSkyUpstream.kind, NOAAUpstream.kind,
        BillowUpstream.kind, InboxUpstream.kind,
    ]

    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        let id = section.sourceID()
        section.require("id")
        // A misspelt kind is read as the nearest one, to find further problems.
        var meant = Self.kinds[0]
        let expected = "\(Self.kinds.dropLast().joined(separator: ", ")) or \(Self.kinds[Self.kinds.count - 1])"
        let name = section.value("kind", expected: expected) { text in
            let distance = { SettingsEnvironment.distance(text, $0) }
            meant = Self.kinds.min { distance($0) < distance($1) } ?? meant
            return meant == text ? text : nil
        }
        section.require("kind")
        // `finish` reports keys of other kinds.
        let kind: Kind?
        switch meant {
        case AviationWeatherUpstream.kind: kind = AviationWeatherSettings(section).map { .aviationWeather($0) }
        case OpenSkyUpstream.kind: kind = OpenSkySettings(section).map { .openSky($0) }
        case NOAAUpstream.kind: kind = NOAASettings(section).map { .noaa($0) }
        case BillowUpstream.kind: kind = BillowSettings(section).map { .billow($0) }
        case InboxUpstream.kind: kind = InboxSettings(section).map { .inbox($0) }
        default: kind = SkyPathSettings(section).map { .skyPath($0) }
        }
        let update = section.value(
            "update", expected: "none, minimal, medium, fast, or an ISO 8601 duration of 1 second or more"
        ) { text in
            UpdateFrequency(name: text)
                ?? ISODuration.seconds(text).flatMap { $0 >= 1 ? .every(.seconds($0)) : nil }
        }
        let simulated = section.flag("simulated")
        let staleAfterSeconds = section.staleAfter()
        section.finish()
        guard let id, name != nil, let kind else { return nil }
        self.init(
            id: id, kind: kind, update: update ?? kind.defaultUpdate, simulated: simulated,
            staleAfterSeconds: staleAfterSeconds)
    }
}

extension Settings.Source.Kind {
    /// The default update frequency. A folder is scanned often, because scans are cheap and a file is imported at the
    /// second one. Aircraft move fast. Bulk requests for the world are always complete.
    fileprivate var defaultUpdate: UpdateFrequency {
        switch self {
        case .skyPath(let settings):
            settings.api == .v5 && settings.query.areas(of: .turbulence).contains(.global) ? .medium : .fast
        case .aviationWeather, .noaa, .billow: .fast
        case .openSky: .every(.seconds(10))
        case .inbox: .every(.seconds(2))
        }
    }
}

extension SettingsReader.Section {
    /// A source's id.
    func sourceID() -> SourceID? {
        value("id", expected: "1 to 64 letters, digits, '-', '_' and '.'") { SourceID($0) }
    }

    /// The timeout of a whole request.
    func timeout() -> Duration? {
        duration("timeout", from: 1, expected: "above 0, such as PT60S").map { .seconds($0) }
    }

    /// A box as west, south, east, north; two parts if it crosses the antimeridian.
    func boxes(_ key: String) -> [(west: Double, south: Double, east: Double, north: Double)]? {
        guard
            let sides = list(
                key, expected: "four numbers, west, south, east, north, in degrees",
                { Double($0).flatMap { $0.isFinite ? $0 : nil } })
        else { return nil }
        guard sides.count == 4, sides[0] != sides[2], (-180...180).contains(sides[0]), (-180...180).contains(sides[2]),
            sides[1] < sides[3], (-90...90).contains(sides[1]), (-90...90).contains(sides[3])
        else {
            problem(
                key,
                "must be four numbers, west, south, east, north: longitudes -180 to 180 (west above east crosses the "
                    + "antimeridian), latitudes -90 to 90, south below north")
            return nil
        }
        let parts: [(Double, Double)] =
            sides[0] > sides[2] ? [(sides[0], 180), (-180, sides[2])] : [(sides[0], sides[2])]
        // A box that ends at the antimeridian has only one non-empty part.
        return parts.filter { $0.0 < $0.1 }.map { (west: $0.0, south: sides[1], east: $0.1, north: sides[3]) }
    }
}
