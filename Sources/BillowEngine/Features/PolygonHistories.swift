package import BillowSnapshot
package import BillowTiles
import Datasets
package import Turbulence

/// The histories for which turbulence polygons are computed.
package struct PolygonHistories: Sendable, Hashable {
    package let all: [History]

    /// - Parameters:
    ///   - longest: the configured history.
    ///   - upTo: whether shorter histories are included.
    package init(longest: History = .sixHours, upTo: Bool = true) {
        all = upTo ? History.allCases.filter { $0 <= longest } : [longest]
    }

    /// - Throws: `EngineError.historyNotMade` with the available histories, if the filter's is not among them.
    package func require(_ filter: Filter) throws(EngineError) {
        guard all.contains(where: { $0.seconds == filter.lookBackSeconds }) else {
            throw .historyNotMade(seconds: filter.lookBackSeconds, made: all.map(\.seconds))
        }
    }

    /// Checks the filter of a frame, if the frame shows Billow's own polygons.
    package func require(_ filter: Filter, for layers: LayerList) throws(EngineError) {
        if layers.layers.contains(where: \.isPolygons), !filter.prefersIssuedPolygons { try require(filter) }
    }
}

/// The text form of hours in parameters and ids.
package enum HistoryText {
    package static func of(_ seconds: Int) -> String {
        History(rawValue: seconds)?.text ?? String(Double(seconds) / 3_600)
    }

    /// A sorted list of hours without duplicates.
    package static func list(_ seconds: some Sequence<Int>) -> String {
        Set(seconds).sorted().map(of).joined(separator: ", ")
    }
}

extension FrameSource {
    /// Whether the current frame shows issued polygons, of whatever history.
    func showsIssuedPolygons(_ filter: Filter, in snapshot: Snapshot) async throws(EngineError) -> Bool {
        guard filter.prefersIssuedPolygons else { return false }
        if filter.excludesReports { return true }
        return try await areas(.polygons, at: snapshot.publication.asOf, in: snapshot).contains(where: filter.isIssuer)
    }

    /// The issued polygons that match a filter's sources, kinds and history and are valid at an instant.
    ///
    /// - Throws: `EngineError.historyNotMade` if they exist for other histories only.
    func issuedPolygons(_ filter: Filter, at instant: Instant, in snapshot: Snapshot) async throws(EngineError)
        -> [IssuedArea]
    {
        let issued = try await areas(.polygons, at: instant, in: snapshot).filter(filter.isIssuer)
        let wanted = issued.filter { $0.historySeconds ?? filter.lookBackSeconds == filter.lookBackSeconds }
        guard !wanted.isEmpty || issued.isEmpty || !filter.prefersIssuedPolygons else {
            throw EngineError.historyNotMade(
                seconds: filter.lookBackSeconds, made: issued.compactMap(\.historySeconds))
        }
        return wanted
    }
}
