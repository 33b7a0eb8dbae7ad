package import BillowFields
package import BillowSnapshot
import BillowStore
import Geometry
package import Turbulence

/// The turbulence field at places, each at an instant of its own: between the valid times before and after it, and
/// between levels. What is missing on one of these sides is missing.
package struct FieldSection: Sendable {
    /// A field that it is made of, with the levels that were read.
    package struct Part: Sendable {
        package let frame: FieldFrame
        /// The same with the levels that were read, and no others.
        fileprivate let read: FieldFrame
        fileprivate let sites: GriddedSites
        /// By level of `read` and site.
        fileprivate let values: [[Int16]]

        package var levels: [FieldLevelRecord] { read.levels }

        fileprivate init(
            _ frame: FieldFrame, _ levels: [FieldLevelRecord], _ sites: GriddedSites, _ values: [[Int16]]
        ) {
            self.frame = frame
            // Both are in the order of the levels.
            read = FieldFrame(identity: frame.identity, source: frame.source, grid: frame.grid, levels: levels)
            self.sites = sites
            self.values = values
        }
    }

    /// Why the field has no value at a place.
    package enum Gap: String, Sendable, Hashable {
        /// There is no field for the instant.
        case time
        /// The place lies outside of the grid.
        case outside
        /// No stored level is near the altitude.
        case level
        /// The grid has no value there.
        case missing
    }

    /// Names a field, without its levels.
    fileprivate struct FrameKey: Hashable {
        private let identity: FieldIdentity
        private let source: SourceID

        init(_ frame: FieldFrame) {
            identity = frame.identity
            source = frame.source
        }
    }

    private struct Place: Sendable {
        /// In `parts`.
        var before: Int
        var after: Int
        var share: Double
    }

    /// By valid time.
    package let parts: [Part]
    /// nil where there is no field for the instant.
    private let places: [Place?]

    static let missing = Int16(-1)
    /// Planes that one section is made of at most; more levels are thinned evenly.
    package static let mostPlanes = 512

    fileprivate init(parts: [Part], brackets: [FieldBracket?]) {
        self.parts = parts
        let numbers = Dictionary(uniqueKeysWithValues: parts.enumerated().map { (FrameKey($1.frame), $0) })
        places = brackets.map { bracket in
            guard let bracket, let before = numbers[FrameKey(bracket.before)],
                let after = numbers[FrameKey(bracket.after)]
            else {
                return nil
            }
            return Place(before: before, after: after, share: bracket.share)
        }
    }

    /// A value between fields.
    package struct Sample: Sendable, Hashable {
        /// Ten-thousandths of m^(2/3)/s.
        package let tenThousandths: Int
        /// The fields that it lies between; twice the same where one counts alone.
        package let before: FieldFrame
        package let after: FieldFrame
        /// The altitude in feet; nil for the whole column.
        package let feet: Int?
    }

    /// The value of a site at an altitude, or why there is none.
    package func value(at site: Int, feet: Double) -> Result<Int, GapError> {
        guard let place = places[site] else { return .failure(GapError(.time)) }
        return between(place) { part in part.value(at: site, between: part.neighbours(ofFeet: feet)) }
    }

    /// The values of all sites at an altitude.
    /// - Complexity: O(sites)
    package func values(atFeet feet: Double) -> [Result<Int, GapError>] {
        let neighbours = parts.map { $0.neighbours(ofFeet: feet) }
        return places.indices.map { site in
            guard let place = places[site] else { return .failure(GapError(.time)) }
            return between(place, at: site, neighbours)
        }
    }

    private func between(_ place: Place, at site: Int, _ neighbours: [Part.Neighbours?]) -> Result<Int, GapError> {
        let before = parts[place.before].value(at: site, between: neighbours[place.before])
        guard place.share > 0, case .success(let from) = before else { return before }
        return parts[place.after].value(at: site, between: neighbours[place.after]).map {
            Self.mixed(from, $0, place.share)
        }
    }

    private static func mixed(_ from: Int, _ to: Int, _ share: Double) -> Int {
        Int((Double(from) + Double(to - from) * share).rounded())
    }

    /// The largest value of a site at some altitudes, by the levels that pictures show of them, or why there is none.
    package func largest(at site: Int, in altitudes: AltitudeRange) -> Result<Sample, GapError> {
        guard let place = places[site] else { return .failure(GapError(.time)) }
        let (before, after) = (parts[place.before], parts[place.after])
        return between(place) { part in part.largest(at: site, in: altitudes).map(\.value) }.map { value in
            let nearer = place.share < 0.5 ? before : after
            let level = (try? nearer.largest(at: site, in: altitudes).get())?.level
            let feet: Int? = if case .feet(let feet)? = level { Int(feet) } else { nil }
            return Sample(tenThousandths: value, before: before.frame, after: after.frame, feet: feet)
        }
    }

    /// The same as `value(at:feet:)` with the fields that it lies between.
    package func sample(at site: Int, feet: Double) -> Result<Sample, GapError> {
        value(at: site, feet: feet).flatMap { value in
            guard let fields = fields(at: site) else { return .failure(GapError(.time)) }
            return .success(
                Sample(
                    tenThousandths: value, before: fields.before, after: fields.after, feet: Int(feet.rounded())))
        }
    }

    /// The fields that a site's value lies between.
    package func fields(at site: Int) -> (before: FieldFrame, after: FieldFrame)? {
        places[site].map { (parts[$0.before].frame, parts[$0.after].frame) }
    }

    private func between(_ place: Place, _ value: (Part) -> Result<Int, GapError>) -> Result<Int, GapError> {
        let before = value(parts[place.before])
        guard place.share > 0, case .success(let from) = before else { return before }
        return value(parts[place.after]).map { Self.mixed(from, $0, place.share) }
    }

    /// What a result fails with.
    package struct GapError: Error, Hashable {
        package let gap: Gap

        fileprivate init(_ gap: Gap) { self.gap = gap }
    }
}

extension FieldSection.Part {
    /// The levels around an altitude, by their place in `values`.
    fileprivate struct Neighbours {
        var below: Int
        var above: Int
        var share: Double
    }

    fileprivate func neighbours(ofFeet feet: Double) -> Neighbours? {
        guard let found = read.neighbours(ofFeet: feet), let below = read.levels.firstIndex(of: found.below),
            let above = read.levels.firstIndex(of: found.above)
        else { return nil }
        return Neighbours(below: below, above: above, share: found.share)
    }

    fileprivate func value(at site: Int, between neighbours: Neighbours?) -> Result<Int, FieldSection.GapError> {
        guard sites.isInside(site) else { return .failure(.init(.outside)) }
        guard let neighbours else { return .failure(.init(.level)) }
        let (below, above) = (Int(values[neighbours.below][site]), Int(values[neighbours.above][site]))
        guard min(below, above) >= 0 else { return .failure(.init(.missing)) }
        return .success(Int((Double(below) + Double(above - below) * neighbours.share).rounded()))
    }

    fileprivate func largest(at site: Int, in altitudes: AltitudeRange)
        -> Result<(value: Int, level: FieldLevel), FieldSection.GapError>
    {
        guard sites.isInside(site) else { return .failure(.init(.outside)) }
        let shown = frame.levels(in: altitudes)
        guard !shown.isEmpty else { return .failure(.init(.level)) }
        var largest: (value: Int, level: FieldLevel)?
        for level in shown {
            guard let value = value(level, site), value != FieldSection.missing else { continue }
            if let largest, largest.value >= Int(value) { continue }
            largest = (Int(value), level.level)
        }
        return largest.map { .success($0) } ?? .failure(.init(.missing))
    }

    /// nil for a level that wasn't read.
    private func value(_ level: FieldLevelRecord, _ site: Int) -> Int16? {
        read.levels.firstIndex(of: level).map { values[$0][site] }
    }
}

extension FrameSource {
    /// Which levels of a field a section needs.
    package enum SectionLevels: Sendable {
        /// Those around altitudes from one to another, in feet.
        case around(ClosedRange<Double>)
        /// Those that pictures of these altitudes show.
        case shown(AltitudeRange)

        fileprivate func levels(of frame: FieldFrame) -> [FieldLevelRecord] {
            switch self {
            case .shown(let altitudes): return frame.levels(in: altitudes)
            case .around(let range):
                let flown = frame.levels.filter { $0.level != .column }
                let low = frame.neighbours(ofFeet: range.lowerBound)?.below.level.number ?? Int(range.lowerBound)
                let high = frame.neighbours(ofFeet: range.upperBound)?.above.level.number ?? Int(range.upperBound)
                return flown.filter { (low...max(low, high)).contains($0.level.number) }
            }
        }
    }

    /// The turbulence field at sites, each at an instant.
    ///
    /// - Parameters:
    ///   - times: of the sites, in their order.
    ///   - filter: names product, run and sources.
    /// - Complexity: O(planes × sites), and 20 ms for each of GTG's planes of which the sites aren't known; at most
    ///   `FieldSection.mostPlanes` planes. It is a job's work, and ends between two planes when it is cancelled.
    package func fieldSection(
        at sites: FieldSites, times: [Instant], levels: SectionLevels, filter: Filter, in snapshot: Snapshot
    ) async throws -> FieldSection {
        WorkExecutor.assertIsJob()
        precondition(times.count == sites.count, "\(times.count) times for \(sites.count) sites")
        var known: [Instant: FieldBracket?] = [:]
        let query = FieldIndex.Query(filter)
        let brackets = times.map { time -> FieldBracket? in
            if let bracket = known[time] { return bracket }
            let bracket = snapshot.fields.bracket(around: time, query, asOf: snapshot.publication.version)
            known[time] = .some(bracket)
            return bracket
        }
        let name = sites.name
        var frames: [FieldSection.FrameKey: FieldFrame] = [:]
        for bracket in known.values.compactMap(\.self) {
            for frame in [bracket.before, bracket.after] { frames[FieldSection.FrameKey(frame)] = frame }
        }
        var gridded: [Int64: GriddedSites] = [:]
        for frame in frames.values where gridded[frame.grid] == nil {
            guard let grid = snapshot.fieldGrids[frame.grid] else { continue }
            gridded[frame.grid] = try await GriddedSites(sites, on: grid) { try await gridCells(grid) }
        }
        // A field that no site inside its grid needs isn't read.
        var needed: Set<FieldSection.FrameKey> = []
        for (site, bracket) in brackets.enumerated() {
            for frame in [bracket?.before, bracket?.after].compactMap(\.self)
            where gridded[frame.grid]?.isInside(site) ?? false {
                needed.insert(FieldSection.FrameKey(frame))
            }
        }
        var wanted = frames.filter { needed.contains($0.key) }.mapValues { levels.levels(of: $0) }
        while wanted.values.reduce(0, { $0 + $1.count }) > FieldSection.mostPlanes {
            wanted = wanted.mapValues { levels in levels.indices.filter { $0 % 2 == 0 }.map { levels[$0] } }
        }
        var parts: [FieldSection.Part] = []
        for (key, frame) in frames {
            guard let grid = snapshot.fieldGrids[frame.grid], let places = gridded[frame.grid] else { continue }
            let levels = wanted[key] ?? []
            var values: [[Int16]] = []
            for level in levels {
                try Task.checkCancellation()
                values.append(try await siteValues(level, places, name, on: grid, in: snapshot))
            }
            parts.append(FieldSection.Part(frame, levels, places, values))
        }
        parts.sort {
            ($0.frame.identity.validTime, $0.frame.identity.run) < ($1.frame.identity.validTime, $1.frame.identity.run)
        }
        return FieldSection(parts: parts, brackets: brackets)
    }

    private func siteValues(
        _ level: FieldLevelRecord, _ sites: GriddedSites, _ name: String, on grid: GridDefinition,
        in snapshot: Snapshot
    ) async throws -> [Int16] {
        let key = FieldCaches.PlaneKey(log: snapshot.log, rows: [level.row])
        if sites.areCells {
            let largest = try await fields.largest.value(for: key) { [self] in
                let cells = try await gridCells(grid)
                return cells.largest(of: try await plane(key, on: grid, in: snapshot))
            }
            return sites.values(ofLargest: largest)
        }
        let siteKey = FieldCaches.SiteKey(log: snapshot.log, row: level.row, sites: name)
        return try await fields.sites.value(for: siteKey) { [self] in
            sites.values(of: try await plane(key, on: grid, in: snapshot))
        }
    }

    /// A level's plane: the cached one, or one that isn't cached.
    private func plane(_ key: FieldCaches.PlaneKey, on grid: GridDefinition, in snapshot: Snapshot) async throws
        -> FieldPlane
    {
        if let plane = fields.planes.kept(key) { return plane }
        return try await fields.planes.value(for: key, isKept: false) { [self] in
            try await largest(of: key, on: grid, in: snapshot)
        }
    }
}
