package import BillowSnapshot
package import BillowTiles
import Datasets
package import Turbulence

/// The histories that turbulence polygons are made for.
package struct PolygonHistories: Sendable, Hashable {
    package let all: [History]

    /// - Parameters:
    ///   - longest: the history that is configured.
    ///   - upTo: whether those below it are made, too.
    package init(longest: History = .sixHours, upTo: Bool = true) {
        all = upTo ? History.allCases.filter { $0 <= longest } : [longest]
    }

    /// - Throws: `EngineError.historyNotMade` that names those that are made, where the filter's isn't.
    package func require(_ filter: Filter) throws(EngineError) {
        guard all.contains(where: { $0.seconds == filter.lookBackSeconds }) else {
            throw .historyNotMade(seconds: filter.lookBackSeconds, made: all.map(\.seconds))
        }
    }

    /// The same for a picture, where it shows polygons that are made here.
    package func require(_ filter: Filter, for layers: LayerList) throws(EngineError) {
        if layers.layers.contains(.polygons), !filter.prefersIssuedPolygons { try require(filter) }
    }
}

/// Hours as parameters and ids write them.
package enum HoursText {
    package static func of(_ seconds: Int) -> String {
        History(rawValue: seconds)?.text ?? String(Double(seconds) / 3_600)
    }

    /// Some of them in rising order, each once.
    package static func list(_ seconds: some Sequence<Int>) -> String {
        Set(seconds).sorted().map(of).joined(separator: ", ")
    }
}

extension FrameSource {
    /// Whether the polygons of the newest picture are those that sources issued, of whatever history.
    func showsIssuedPolygons(_ filter: Filter, in snapshot: Snapshot) async throws -> Bool {
        guard filter.prefersIssuedPolygons else { return false }
        if filter.takesNoReports { return true }
        return try await areas(.polygons, at: snapshot.publication.asOf, in: snapshot).contains(where: filter.isIssuer)
    }

    /// The polygons that sources issued, of the sources and kinds that a filter names, that hold at an instant and look
    /// back as far as it.
    ///
    /// - Throws: `EngineError.historyNotMade` where they are asked for, and are there for other histories only.
    func issuedPolygons(_ filter: Filter, at instant: Instant, in snapshot: Snapshot) async throws -> [IssuedArea] {
        let issued = try await areas(.polygons, at: instant, in: snapshot).filter(filter.isIssuer)
        let wanted = issued.filter { $0.historySeconds ?? filter.lookBackSeconds == filter.lookBackSeconds }
        guard !wanted.isEmpty || issued.isEmpty || !filter.prefersIssuedPolygons else {
            throw EngineError.historyNotMade(
                seconds: filter.lookBackSeconds, made: issued.compactMap(\.historySeconds))
        }
        return wanted
    }
}
