package import BillowFields
package import Geometry
package import Turbulence

/// Which log it is, and its newest version.
package struct Head: Sendable, Hashable {
    package var version: Version
    /// Names the log among all others: versions of two logs have nothing in common. A backup is another log, and so is
    /// what is left when rows that pictures showed were deleted.
    package var log: String

    package init(version: Version, log: String) {
        self.version = version
        self.log = log
    }
}

/// The log at its head: what one transaction reads of it besides its rows.
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

/// All that changed after a version.
package struct Changes: Sendable {
    package var head: Head
    package var sources: [SourceRecord]
    package var extent: LogExtent
    /// Rows with since > version that still count.
    package var opened: [ObservationRow]
    /// Rows that counted at the version and have been closed after it.
    package var closed: [ObservationRow]
    package var openedReports: [PilotReport]
    package var closedReports: [PilotReport]
    package var openedAreas: [IssuedArea]
    package var closedAreas: [IssuedArea]
    package var positions: [AircraftPosition]
    /// Levels that were stored since, by their fields. A field may have had others before.
    package var fields: [FieldFrame]
    /// All grids of fields.
    package var fieldGrids: [Int64: GridDefinition]
    /// All fields that are left, where a deletion took some since; nil where none did.
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

/// Which fields are stored. Their planes are read one by one (`Store.packedFieldPlane`).
package struct StoredFields: Sendable, Hashable {
    package var index: FieldIndex
    /// By the numbers that fields have (`FieldFrame.grid`).
    package var grids: [Int64: GridDefinition]

    package init(index: FieldIndex = .empty, grids: [Int64: GridDefinition] = [:]) {
        self.index = index
        self.grids = grids
    }
}

/// Rows with the head at which they count.
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

/// The parts of an observation that no picture needs.
package struct ObservationDetails: Sendable, Hashable {
    /// The id that it came with.
    package var id: String?
    package var aircraft: String?

    package init(id: String?, aircraft: String?) {
        self.id = id
        self.aircraft = aircraft
    }
}

/// What a position is told apart by, and where a page of positions starts.
package struct PositionPlace: Sendable, Hashable {
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
