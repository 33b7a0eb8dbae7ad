package import Turbulence

/// The rows of one part of the archive. Windows of the past are joined from parts, and superseded rows are resolved
/// then.
package struct WindowPart: Sendable {
    package let part: ArchivePart
    let segment: Segment

    /// The number of rows.
    package var count: Int { segment.count }

    /// - Parameters:
    ///   - rows: all rows observed in the part.
    ///   - part: the time range.
    /// - Complexity: O(n), or O(n log n) for rows that aren't in the order of their keys
    package init(_ part: ArchivePart, rows: [ObservationRow]) {
        precondition(
            rows.allSatisfy { ArchivePart($0.observedAt) == part }, "a row that was not observed in part \(part.number)"
        )
        self.init(part, segment: Segment(rows))
    }

    init(_ part: ArchivePart, segment: Segment) {
        self.part = part
        self.segment = segment
    }
}
