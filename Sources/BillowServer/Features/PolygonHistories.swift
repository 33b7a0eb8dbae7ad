import BillowSnapshot
import BillowTiles
import HTTPTypes
public import Turbulence

/// The histories that turbulence polygons are made for.
public struct PolygonHistories: Sendable, Hashable {
    public let all: [History]

    /// - Parameters:
    ///   - longest: the history that is configured.
    ///   - upTo: whether those below it are made, too.
    public init(longest: History = .sixHours, upTo: Bool = true) {
        all = upTo ? History.allCases.filter { $0 <= longest } : [longest]
    }

    /// - Throws: `Problem` 404 that names those that are made, where the filter's isn't.
    func require(_ filter: Filter) throws(Problem) {
        guard all.contains(where: { $0.seconds == filter.lookBackSeconds }) else {
            throw Problem.historyNotMade(filter.lookBackSeconds, made: all.map(\.seconds))
        }
    }

    /// The same for a picture, where it shows polygons that are made here.
    func require(_ filter: Filter, for layers: LayerList) throws(Problem) {
        if layers.layers.contains(.polygons), !filter.prefersIssuedPolygons { try require(filter) }
    }
}

/// Hours as parameters and ids write them.
enum HoursText {
    static func of(_ seconds: Int) -> String {
        History(rawValue: seconds)?.text ?? String(Double(seconds) / 3_600)
    }
}

extension Problem {
    /// An empty answer would look like smooth air, and another history's like this one.
    static func historyNotMade(_ seconds: Int, made: some Collection<Int>) -> Problem {
        let made = Set(made).sorted().map(HoursText.of).joined(separator: ", ")
        return Problem(
            .historyNotMade,
            detail: "There are no turbulence polygons of this history; those made look back \(made) hours.",
            parameter: "hours", value: HoursText.of(seconds), allowed: made)
    }
}

extension FrameSource {
    /// Whether the polygons of the newest picture are those that sources issued, of whatever history.
    func showsIssuedPolygons(_ filter: Filter, in snapshot: Snapshot) async throws -> Bool {
        guard filter.prefersIssuedPolygons else { return false }
        if filter.takesNoReports { return true }
        return try await areas(.polygons, at: snapshot.publication.asOf, in: snapshot).contains(where: filter.isIssuer)
    }

    /// The polygons that sources issued, of the sources and kinds that a filter names, that hold at an instant and look back
    /// as far as it.
    ///
    /// - Throws: `Problem` 404 where they are asked for, and are there for other histories only.
    func issuedPolygons(_ filter: Filter, at instant: Instant, in snapshot: Snapshot) async throws -> [IssuedArea] {
        let issued = try await areas(.polygons, at: instant, in: snapshot).filter(filter.isIssuer)
        let wanted = issued.filter { $0.historySeconds ?? filter.lookBackSeconds == filter.lookBackSeconds }
        guard !wanted.isEmpty || issued.isEmpty || !filter.prefersIssuedPolygons else {
            throw Problem.historyNotMade(filter.lookBackSeconds, made: issued.compactMap(\.historySeconds))
        }
        return wanted
    }
}
