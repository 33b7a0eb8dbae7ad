package import Turbulence

/// A deletion of some or all fields with a valid time before an instant.
package struct FieldDeletion: Sendable, Hashable {
    package let before: Instant
    /// The version of the last deletion.
    package let version: Version

    package init(before: Instant, version: Version) {
        self.before = before
        self.version = version
    }
}

/// The index of the log's fields. A snapshot has one; planes are read when they are drawn.
///
/// - Complexity: O(log n) to find a field among n; two days of nowcasts and three runs of forecasts are some 250.
package struct FieldIndex: Sendable, Hashable {
    /// The fields by valid time, then product, then run.
    package private(set) var frames: [FieldFrame]
    /// The deletions of fields of earlier versions.
    package private(set) var deletions: [FieldDeletion]

    package static let empty = FieldIndex([])

    package init(_ frames: [FieldFrame], deletions: [FieldDeletion] = []) {
        self.deletions = deletions
        self.frames = frames.sorted {
            ($0.identity.validTime, $0.identity.product.rawValue, $0.identity.run, $0.source)
                < ($1.identity.validTime, $1.identity.product.rawValue, $1.identity.run, $1.source)
        }
    }

    /// The selection of fields.
    package struct Query: Sendable, Hashable {
        /// The product; nil for both.
        package var product: FieldProduct?
        /// The run; nil for the newest.
        package var run: Instant?
        /// The sources; nil for every source.
        package var sources: Set<SourceID>?

        package init(product: FieldProduct? = nil, run: Instant? = nil, sources: Set<SourceID>? = nil) {
            self.product = product
            self.run = run
            self.sources = sources
        }

        /// Whether the query selects a field.
        package func matches(_ frame: FieldFrame) -> Bool {
            (product.map { $0 == frame.identity.product } ?? true) && (run.map { $0 == frame.identity.run } ?? true)
                && (sources.map { $0.contains(frame.source) } ?? true)
        }
    }

    /// The field that a frame shows: the newest nowcast within its reach, otherwise the forecast
    /// nearest in time. Of several forecasts, it is that of the newest run.
    ///
    /// - Parameter version: fields stored after it are ignored.
    package func frame(at instant: Instant, _ query: Query = Query(), asOf version: Version) -> FieldFrame? {
        var best: FieldFrame?
        for index in indices(around: instant) {
            let candidate = frames[index]
            guard candidate.identity.product.reach.contains(instant.seconds - candidate.identity.validTime.seconds),
                query.matches(candidate)
            else { continue }
            if let best, !candidate.isBetter(than: best, at: instant) { continue }
            if let known = candidate.asOf(version) { best = known }
        }
        return best
    }

    /// Whether a frame at a version is still known: none of its fields was deleted after that version.
    package func isKnown(at instant: Instant, asOf version: Version) -> Bool {
        deletions.allSatisfy { deletion in
            version >= deletion.version
                || instant.seconds - deletion.before.seconds >= FieldProduct.longestReach.upperBound
        }
    }

    /// The valid times of the fields that frames of an interval show, ascending.
    package func validTimes(in range: ClosedRange<Instant>, _ query: Query = Query(), asOf version: Version)
        -> [Instant]
    {
        var times: [Instant] = []
        for frame in frames[firstIndex(from: range.lowerBound)...] {
            let time = frame.identity.validTime
            guard time <= range.upperBound else { break }
            guard times.last != time, query.matches(frame), frame.asOf(version) != nil else { continue }
            // A forecast isn't shown from its valid time on if a nowcast is shown then.
            guard let shown = self.frame(at: time, query, asOf: version), shown.identity.validTime == time else {
                continue
            }
            times.append(time)
        }
        return times
    }

    /// The fields that are new or different from those in an earlier index, by valid time.
    package func changedFrames(since earlier: FieldIndex) -> [FieldFrame] {
        let known = Dictionary(earlier.frames.map { (SourcedIdentity($0), $0) }) { first, _ in first }
        return frames.filter { known[SourcedIdentity($0)] != $0 }
    }

    private struct SourcedIdentity: Hashable {
        var identity: FieldIdentity
        var source: SourceID

        init(_ frame: FieldFrame) {
            identity = frame.identity
            source = frame.source
        }
    }

    /// The index with stored levels added, to existing fields or as new ones.
    package func adding(_ added: [FieldFrame]) -> FieldIndex {
        guard !added.isEmpty else { return self }
        var joined: [SourcedIdentity: FieldFrame] = [:]
        for frame in frames + added {
            let identity = SourcedIdentity(frame)
            guard let known = joined[identity] else {
                joined[identity] = frame
                continue
            }
            let new = Set(frame.levels.map(\.level))
            joined[identity] = FieldFrame(
                identity: frame.identity, source: frame.source, grid: frame.grid,
                levels: known.levels.filter { !new.contains($0.level) } + frame.levels)
        }
        return FieldIndex(Array(joined.values), deletions: deletions)
    }

    /// The index without the fields of earlier valid times, which retention has deleted.
    package func dropping(before instant: Instant) -> FieldIndex {
        let first = firstIndex(from: instant)
        guard first > 0 else { return self }
        var rest = self
        rest.frames.removeFirst(first)
        return rest
    }

    /// The fields with a valid time in an interval, ascending.
    func frames(from start: Instant, through end: Instant) -> ArraySlice<FieldFrame> {
        let first = firstIndex(from: start)
        return frames[first..<max(first, firstIndex(from: end.advanced(by: 1)))]
    }

    /// The indices of fields whose valid time is within the reach of any product.
    private func indices(around instant: Instant) -> Range<Int> {
        let first = firstIndex(from: instant.advanced(by: -Self.farthest.upperBound))
        let end = firstIndex(from: instant.advanced(by: 1 - Self.farthest.lowerBound))
        return first..<max(first, end)
    }

    private static let farthest = FieldProduct.longestReach

    /// The index of the first field with a valid time at or after an instant.
    private func firstIndex(from instant: Instant) -> Int {
        var (low, high) = (0, frames.count)
        while low < high {
            let middle = (low + high) / 2
            if frames[middle].identity.validTime < instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension FieldFrame {
    /// Whether frames of an instant prefer this field to another one.
    func isBetter(than other: FieldFrame, at instant: Instant) -> Bool {
        if identity.product != other.identity.product { return identity.product == .nowcast }
        let distance = abs(instant.seconds - identity.validTime.seconds)
        let otherDistance = abs(instant.seconds - other.identity.validTime.seconds)
        if distance != otherDistance { return distance < otherDistance }
        return (identity.run, other.source) > (other.identity.run, source)
    }
}
