package import BillowFields
package import Geometry
package import Turbulence

/// The identity of a log, and its newest version.
package struct Head: Sendable, Hashable {
    package var version: Version
    /// The name of the log: versions of two logs are not comparable. A backup is another log. So is a log from which
    /// rows of frames were deleted.
    package var log: String

    package init(version: Version, log: String) {
        self.version = version
        self.log = log
    }
}

/// The state of the log at its head, read in one transaction without its rows.
package struct LogState: Sendable, Hashable {
    package var head: Head
    package var sources: [SourceRecord]
    package var extent: LogExtent

    package init(head: Head, sources: [SourceRecord], extent: LogExtent) {
        self.head = head
        self.sources = sources
        self.extent = extent
    }
}

/// The changes since a version.
package struct Changes: Sendable {
    package var head: Head
    package var sources: [SourceRecord]
    package var extent: LogExtent
    /// Rows with since > version that are still open.
    package var opened: [ObservationRow]
    /// Rows that were open at the version and have been closed since.
    package var closed: [ObservationRow]
    package var openedReports: [PilotReport]
    package var closedReports: [PilotReport]
    package var openedAreas: [IssuedArea]
    package var closedAreas: [IssuedArea]
    package var positions: [AircraftPosition]
    /// The levels that were stored since, by field. A field may also have older levels.
    package var fields: [FieldFrame]
    /// All grids of fields.
    package var fieldGrids: [Int64: GridDefinition]
    /// All remaining fields if a deletion removed some since; nil if none did.
    package var remainingFields: FieldIndex?

    package init(
        head: Head, sources: [SourceRecord], extent: LogExtent = LogExtent(), opened: [ObservationRow] = [],
        closed: [ObservationRow] = [], openedReports: [PilotReport] = [], closedReports: [PilotReport] = [],
        openedAreas: [IssuedArea] = [], closedAreas: [IssuedArea] = [], positions: [AircraftPosition] = [],
        fields: [FieldFrame] = [], fieldGrids: [Int64: GridDefinition] = [:], remainingFields: FieldIndex? = nil
    ) {
        self.head = head
        self.sources = sources
        self.extent = extent
        self.opened = opened
        self.closed = closed
        self.openedReports = openedReports
        self.closedReports = closedReports
        self.openedAreas = openedAreas
        self.closedAreas = closedAreas
        self.positions = positions
        self.fields = fields
        self.fieldGrids = fieldGrids
        self.remainingFields = remainingFields
    }
}

/// The stored fields. Their planes are read one by one (`Store.packedFieldPlane`).
package struct StoredFields: Sendable, Hashable {
    package var index: FieldIndex
    /// The grids, by `FieldFrame.grid`.
    package var grids: [Int64: GridDefinition]

    package init(index: FieldIndex = .empty, grids: [Int64: GridDefinition] = [:]) {
        self.index = index
        self.grids = grids
    }
}

/// Rows with the head at which they were read.
package struct Rows: Sendable {
    package var head: Head
    package var sources: [SourceRecord]
    package var rows: [ObservationRow]

    package init(head: Head, sources: [SourceRecord], rows: [ObservationRow]) {
        self.head = head
        self.sources = sources
        self.rows = rows
    }
}

/// The parts of an observation that no frame needs.
package struct ObservationDetails: Sendable, Hashable {
    /// The id that it was received with.
    package var id: String?
    package var aircraft: String?

    package init(id: String?, aircraft: String?) {
        self.id = id
        self.aircraft = aircraft
    }
}

/// The identity of a position, and the start of a page of positions.
package struct PositionCursor: Sendable, Hashable {
    package var observedAt: Instant
    package var icao24: ICAO24
    package var source: SourceID

    package init(observedAt: Instant, icao24: ICAO24, source: SourceID) {
        self.observedAt = observedAt
        self.icao24 = icao24
        self.source = source
    }

    package init(_ position: AircraftPosition) {
        self.init(observedAt: position.observedAt, icao24: position.icao24, source: position.source)
    }
}
