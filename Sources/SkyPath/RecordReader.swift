import Geometry
import JSONKit

/// Converts the members of a record, or counts why it is skipped.
struct RecordReader {
    let limits: SkyPathLimits
    private(set) var records: [SkyPathRecord] = []
    private(set) var counts = SkyPathCounts()

    init(limits: SkyPathLimits) { self.limits = limits }

    /// The value found for the id.
    enum CellMember {
        case none
        case index(UInt64)
        case cell(Cell)
    }

    /// The value found for the EDR.
    enum EDRMember {
        case none
        case number(Double)
        case other
    }

    /// Adds a record, or counts the first error, in the order of cell, altitude, severity and time.
    mutating func add(place: CellMember, altitude: Int?, severity: Int?, edr: EDRMember, observedAt: Int?) {
        counts.read += 1
        guard let cell = cell(place) else { return }
        guard let altitude, limits.recordAltitudesThousands.contains(altitude) else {
            return counts.skip(.altitude)
        }
        guard let severity, (0...5).contains(severity) else { return counts.skip(.severity) }
        guard let observedAt, limits.observedAt.contains(observedAt) else { return counts.skip(.time) }
        let known = self.edr(edr)
        guard
            let record = SkyPathRecord(
                cell: cell.cell, altitudeThousands: altitude, severity: min(severity, 4), edr: known,
                observedAt: observedAt)
        else { return counts.skip(.altitude) }
        if severity == 5 { counts.clampedSeverity += 1 }
        if cell.isParent { counts.broughtToParent += 1 }
        records.append(record)
    }

    /// Counts a record that isn't an object.
    mutating func addUnreadable() {
        counts.read += 1
        counts.skip(.unreadable)
    }

    private mutating func cell(_ place: CellMember) -> (cell: Cell, isParent: Bool)? {
        switch place {
        case .cell(let cell): return (cell, false)
        case .none: break
        case .index(let index):
            switch H3Index.classify(index) {
            case .cell(let cell): return (cell, false)
            case .finer(_, let parent): return (parent, true)
            case .coarser:
                counts.skip(.coarserCell)
                return nil
            case .invalid: break
            }
        }
        counts.skip(.invalidCell)
        return nil
    }

    private mutating func edr(_ member: EDRMember) -> Double? {
        switch member {
        case .none: return nil
        case .number(let value) where (0...1).contains(value): return value
        case .number, .other:
            counts.droppedEDR += 1
            return nil
        }
    }
}

extension RecordReader.EDRMember {
    init(_ value: JSONScanner.Value) {
        if case .null = value {
            self = .none
        } else {
            self = value.double.map { .number($0) } ?? .other
        }
    }
}
