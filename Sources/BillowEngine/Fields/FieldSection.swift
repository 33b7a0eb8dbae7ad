package import BillowFields
package import BillowSnapshot
import BillowStore
import Geometry
package import Turbulence

/// Samples of the turbulence field, each at its own instant. Values are interpolated between the valid times before and
/// after, and between levels. If one side has no value, neither has the sample.
package struct FieldSection: Sendable {
    /// A field of the section, with the levels that were read.
    package struct FieldLevels: Sendable {
        package let frame: FieldFrame
        /// The field with only the levels that were read.
        fileprivate let read: FieldFrame
        fileprivate let sites: GridSites
        /// The values, by level of `read` and site.
        fileprivate let values: [[Int16]]

        package var levels: [FieldLevelRecord] { read.levels }

        fileprivate init(
            _ frame: FieldFrame, _ levels: [FieldLevelRecord], _ sites: GridSites, _ values: [[Int16]]
        ) {
            self.frame = frame
            // Both are in level order.
            read = FieldFrame(identity: frame.identity, source: frame.source, grid: frame.grid, levels: levels)
            self.sites = sites
            self.values = values
        }
    }

    /// The reason for a missing value.
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

    /// Identifies a field without its levels.
    fileprivate struct FrameKey: Hashable {
        private let identity: FieldIdentity
        private let source: SourceID

        init(_ frame: FieldFrame) {
            identity = frame.identity
            source = frame.source
        }
    }

    private struct Place: Sendable {
        /// An index into `parts`.
        var before: Int
        var after: Int
        var share: Double
    }

    /// The fields, ordered by valid time.
    package let parts: [FieldLevels]
    /// nil for a site whose instant has no field.
    private let places: [Place?]

    static let missing = Int16(-1)
    /// The most planes of a section; more levels are thinned evenly.
    package static let maximumPlanes = 512

    fileprivate init(parts: [FieldLevels], brackets: [FieldBracket?]) {
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

    /// A value that is interpolated between fields.
    package struct Sample: Sendable, Hashable {
        /// The EDR in ten-thousandths of m^(2/3)/s.
        package let tenThousandths: Int
        /// The fields before and after; equal if a single field counts.
        package let before: FieldFrame
        package let after: FieldFrame
        /// The altitude in feet; nil for the whole column.
        package let feet: Int?
    }

    /// The value at a site and altitude, or the reason for its absence.
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

    private func between(_ place: Place, at site: Int, _ neighbours: [FieldLevels.Neighbours?]) -> Result<Int, GapError>
    {
        let before = parts[place.before].value(at: site, between: neighbours[place.before])
        guard place.share > 0, case .success(let from) = before else { return before }
        return parts[place.after].value(at: site, between: neighbours[place.after]).map {
            Self.mixed(from, $0, place.share)
        }
    }

    private static func mixed(_ from: Int, _ to: Int, _ share: Double) -> Int {
        Int((Double(from) + Double(to - from) * share).rounded())
    }

    /// The largest value at a site over a range of altitudes, by the levels that frames show, or the reason for its
    /// absence.
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

    /// The same value as `value(at:feet:)`, together with the fields before and after.
    package func sample(at site: Int, feet: Double) -> Result<Sample, GapError> {
        value(at: site, feet: feet).flatMap { value in
            guard let fields = fields(at: site) else { return .failure(GapError(.time)) }
            return .success(
                Sample(
                    tenThousandths: value, before: fields.before, after: fields.after, feet: Int(feet.rounded())))
        }
    }

    /// The fields before and after a site's instant.
    package func fields(at site: Int) -> (before: FieldFrame, after: FieldFrame)? {
        places[site].map { (parts[$0.before].frame, parts[$0.after].frame) }
    }

    private func between(_ place: Place, _ value: (FieldLevels) -> Result<Int, GapError>) -> Result<Int, GapError> {
        let before = value(parts[place.before])
        guard place.share > 0, case .success(let from) = before else { return before }
        return value(parts[place.after]).map { Self.mixed(from, $0, place.share) }
    }

    /// The error of a missing value.
    package struct GapError: Error, Hashable {
        package let gap: Gap

        fileprivate init(_ gap: Gap) { self.gap = gap }
    }
}

extension FieldSection.FieldLevels {
    /// The levels around an altitude, as indices into `values`.
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
    /// The levels of a field that a section needs.
    package enum SectionLevels: Sendable {
        /// The levels around a range of altitudes in feet.
        case around(ClosedRange<Double>)
        /// The levels that frames show for these altitudes.
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

    /// Samples the turbulence field at sites, each at its instant.
    ///
    /// - Parameters:
    ///   - times: the instants, one per site.
    ///   - filter: selects product, run and sources.
    /// - Complexity: O(planes × sites), at most `FieldSection.maximumPlanes` planes. For an uncached plane it decodes
    ///   the blocks around places, or the whole plane for cells: 20 ms for one of GTG's. It reads as many planes at
    ///   once as the job has threads, and checks for cancellation between them.
    package func fieldSection(
        at sites: FieldSites, times: [Instant], levels: SectionLevels, filter: Filter, in snapshot: Snapshot
    ) async throws(EngineError) -> FieldSection {
        WorkExecutor.assertIsJob()
        precondition(times.count == sites.count, "\(times.count) times for \(sites.count) sites")
        return try await WorkExecutor.computing { () async throws(EngineError) in
            try await section(at: sites, times: times, levels: levels, filter: filter, in: snapshot)
        }
    }

    private func section(
        at sites: FieldSites, times: [Instant], levels: SectionLevels, filter: Filter, in snapshot: Snapshot
    ) async throws(EngineError) -> FieldSection {
        var known: [Instant: FieldBracket?] = [:]
        let query = FieldIndex.Query(filter)
        let brackets = times.map { time -> FieldBracket? in
            if let bracket = known[time] { return bracket }
            let bracket = snapshot.fields.bracket(around: time, query, asOf: snapshot.publication.version)
            known[time] = .some(bracket)
            return bracket
        }
        var frames: [FieldSection.FrameKey: FieldFrame] = [:]
        for bracket in known.values.compactMap(\.self) {
            for frame in [bracket.before, bracket.after] { frames[FieldSection.FrameKey(frame)] = frame }
        }
        var gridded: [Int64: GridSites] = [:]
        for frame in frames.values where gridded[frame.grid] == nil {
            guard let grid = snapshot.fieldGrids[frame.grid] else { continue }
            gridded[frame.grid] = try await GridSites(sites, on: grid) { () async throws(EngineError) in
                try await gridCells(grid)
            }
        }
        let needed = Self.neededSites(of: brackets, gridded)
        // A field that no site inside its grid needs isn't read.
        var wanted = frames.filter { needed[$0.key] != nil }.mapValues { levels.levels(of: $0) }
        while wanted.values.reduce(0, { $0 + $1.count }) > FieldSection.maximumPlanes {
            wanted = wanted.mapValues { levels in levels.indices.filter { $0 % 2 == 0 }.map { levels[$0] } }
        }
        var reads: [SectionRead] = []
        for (key, frame) in frames {
            guard let grid = snapshot.fieldGrids[frame.grid], let places = gridded[frame.grid] else { continue }
            let needed = needed[key] ?? []
            reads.append(
                SectionRead(
                    frame: frame, levels: wanted[key] ?? [], grid: grid, sites: places, needed: needed,
                    name: places.areCells ? "" : sites.name(needed)))
        }
        reads.sort {
            ($0.frame.identity.validTime, $0.frame.identity.run) < ($1.frame.identity.validTime, $1.frame.identity.run)
        }
        let parts = reads.flatMap { read in read.levels.map { (read: read, level: $0) } }
        var values = try await WorkExecutor.computing(parts) { [self] (part) async throws(EngineError) in
            try await siteValues(part.level, part.read, in: snapshot)
        }[...]
        return FieldSection(
            parts: reads.map { read in
                defer { values = values.dropFirst(read.levels.count) }
                return FieldSection.FieldLevels(
                    read.frame, read.levels, read.sites, Array(values.prefix(read.levels.count)))
            }, brackets: brackets)
    }

    /// The part of a field that is read.
    private struct SectionRead: Sendable {
        var frame: FieldFrame
        var levels: [FieldLevelRecord]
        var grid: GridDefinition
        var sites: GridSites
        /// The sites with a value between this field and a neighbour in time.
        var needed: [Int]
        /// A cache key for these sites.
        var name: String
    }

    /// The sites that each field is needed for: they are inside its grid and next to it in time.
    private static func neededSites(of brackets: [FieldBracket?], _ gridded: [Int64: GridSites])
        -> [FieldSection.FrameKey: [Int]]
    {
        var needed: [FieldSection.FrameKey: [Int]] = [:]
        for (site, bracket) in brackets.enumerated() {
            guard let bracket else { continue }
            for frame in bracket.before == bracket.after ? [bracket.before] : [bracket.before, bracket.after]
            where gridded[frame.grid]?.isInside(site) ?? false {
                needed[FieldSection.FrameKey(frame), default: []].append(site)
            }
        }
        return needed
    }

    private func siteValues(
        _ level: FieldLevelRecord, _ read: SectionRead, in snapshot: Snapshot
    ) async throws(EngineError) -> [Int16] {
        let key = FieldCaches.PlaneKey(log: snapshot.log, rows: [level.row])
        let (sites, needed, grid) = (read.sites, read.needed, read.grid)
        if sites.areCells {
            let largest = try await fields.largest.value(for: key) { [self] () async throws(EngineError) in
                let cells = try await gridCells(grid)
                return cells.largest(of: try await plane(key, on: grid, in: snapshot))
            }
            return sites.values(ofLargest: largest)
        }
        let siteKey = FieldCaches.SiteKey(log: snapshot.log, row: level.row, sites: read.name)
        return try await fields.sites.value(for: siteKey) { [self] () async throws(EngineError) in
            if let plane = fields.planes.cachedValue(for: key) { return sites.values(of: needed) { plane.values[$0] } }
            let patch = try await patch(level.row, of: sites.points(of: needed), on: grid, in: snapshot)
            return sites.values(of: needed) { patch?[$0] ?? FieldPlane.missing }
        }
    }

    /// The values of some points of a level's plane and of their neighbours; nil if the plane is unreadable.
    private func patch(_ row: Int64, of points: [Int], on grid: GridDefinition, in snapshot: Snapshot)
        async throws(EngineError)
        -> FieldPatch?
    {
        let packed = try await reading(in: snapshot) { () async throws(StoreError) in
            try await store.packedFieldPlane(row: row)
        }
        guard let packed else { return nil }
        do throws(FieldDamage) {
            let plane = try PackedFieldPlane(packed)
            guard plane.width == grid.columns, plane.height == grid.rows else { return nil }
            return try plane.patch(of: points)
        } catch {
            // The store records the damage. `reading` throws an error for it until the snapshot is marked.
            _ = try await reading(in: snapshot) { () async throws(StoreError) in try await store.fieldPlane(row: row) }
            return nil
        }
    }

    /// The cached plane of a level, or one that is decoded without caching it.
    private func plane(_ key: FieldCaches.PlaneKey, on grid: GridDefinition, in snapshot: Snapshot)
        async throws(EngineError)
        -> FieldPlane
    {
        if let plane = fields.planes.cachedValue(for: key) { return plane }
        return try await fields.planes.value(for: key, isCached: false) { [self] () async throws(EngineError) in
            try await largest(of: key, on: grid, in: snapshot)
        }
    }
}
