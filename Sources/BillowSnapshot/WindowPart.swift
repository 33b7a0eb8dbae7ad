package import Turbulence

/// The rows of one part of the archive: windows of the past are joined of such. Which record replaces which is settled
/// there.
package struct WindowPart: Sendable {
    package let part: ArchivePart
    let segment: Segment

    /// How many rows it has.
    package var count: Int { segment.count }

    /// - Parameters:
    ///   - rows: all observed in the part.
    ///   - part: the stretch of time.
    /// - Complexity: O(n), or O(n log n) for rows that are not in the order of their keys
    package init(_ part: ArchivePart, rows: [ObservationRow]) {
        precondition(
            rows.allSatisfy { ArchivePart($0.observedAt) == part }, "a row that was not observed in part \(part.number)"
        )
        self.init(part, segment: Segment().merging(rows, removing: []))
    }

    init(_ part: ArchivePart, segment: Segment) {
        self.part = part
        self.segment = segment
    }
}
