package import BillowFields
public import Turbulence

/// The filter of a request, besides place and time. All routes use the same filter grammar.
public struct Filter: Sendable, Hashable {
    /// How far the frame looks back, in seconds: one of the histories, or 1…21,600 from a custom interval.
    public var lookBackSeconds: Int
    /// The severities to show.
    public var severities: SeveritySet
    /// The altitudes to show, including everything that overlaps them.
    public var altitudes: AltitudeRange
    /// The sources to show; nil for every source.
    public var sources: Set<SourceID>?
    /// The kinds of observations to show; nil for every kind.
    public var kinds: Set<ObservationKind>?
    /// The kinds of issued areas to show; nil for every kind.
    public var areaKinds: Set<String>?
    /// The category by whose thresholds measured values are classified.
    public var category: AircraftCategory
    /// The selection of turbulence fields.
    package var field = FieldSelection()

    /// Makes a filter; by default it shows everything of the last two hours.
    public init(
        history: History = .default, severities: SeveritySet = .all, altitudes: AltitudeRange = .all,
        sources: Set<SourceID>? = nil, kinds: Set<ObservationKind>? = nil, areaKinds: Set<String>? = nil,
        category: AircraftCategory = .default
    ) {
        lookBackSeconds = history.seconds
        self.severities = severities
        self.altitudes = altitudes
        self.sources = sources
        self.kinds = kinds
        self.areaKinds = areaKinds
        self.category = category
    }
}

/// The selection of turbulence fields, and how they are drawn.
package struct FieldSelection: Sendable, Hashable {
    /// The product; nil for both: nowcasts up to now, forecasts ahead.
    package var product: FieldProduct?
    /// The run of a forecast; nil for the newest.
    package var run: Instant?
    /// Whether values between grid points are interpolated.
    package var isSmoothed = false
    /// Whether smooth air is drawn.
    package var showsSmoothAir = false

    package init(
        product: FieldProduct? = nil, run: Instant? = nil, isSmoothed: Bool = false, showsSmoothAir: Bool = false
    ) {
        self.showsSmoothAir = showsSmoothAir
        self.product = product
        self.run = run
        self.isSmoothed = isSmoothed
    }
}

/// A filter at an instant, prepared for tests of millions of rows.
struct RowPredicate: Sendable {
    private let after: UInt32
    private let upTo: UInt32
    private let minimum: UInt8
    private let maximum: UInt8
    private let takesSource: [Bool]
    private let takesKind: [Bool]
    private let categoryCode: UInt8
    private let takesSeverity: [Bool]
    private let thresholds: SeverityThresholds

    init(filter: Filter, at instant: Instant, sources: [SourceNumber: SourceID], table: SeverityTable) {
        after = UInt32(instant.advanced(by: -filter.lookBackSeconds).seconds)
        upTo = UInt32(instant.seconds)
        minimum = UInt8(filter.altitudes.minimum)
        maximum = UInt8(filter.altitudes.maximum)
        var takesSource = [Bool](repeating: filter.sources == nil, count: 256)
        if let wanted = filter.sources {
            for (number, id) in sources where wanted.contains(id) { takesSource[Int(number.rawValue)] = true }
        }
        self.takesSource = takesSource
        takesKind = ObservationKind.allCases.map { $0.isShown && filter.kinds?.contains($0) ?? true }
        categoryCode = filter.category.number / 10
        takesSeverity = Severity.allCases.map { filter.severities.contains($0) }
        thresholds = table.thresholds(for: filter.category)
    }

    /// The severity of a row; nil if the row isn't part of the frame.
    ///
    /// A row is current from its observation until it is superseded or its history ends. A reported severity applies to
    /// its category, or to all if none was given. Otherwise the EDR is classified by the category's thresholds.
    @inline(__always)
    func severity(of index: Int, in segment: borrowing SegmentColumns) -> Severity? {
        let observed = segment.observedAt[index]
        guard observed > after, observed <= upTo, segment.replacedAt[index] > upTo else { return nil }
        let place = RowKey(bits: segment.places[index])
        guard place.highest >= minimum, place.lowest < maximum, takesSource[Int(place.source.rawValue)],
            takesKind[Int(segment.kinds[index])]
        else { return nil }
        let given = segment.severities[index]
        let severity: Severity
        if given != Segment.none, place.categoryCode == 0 || place.categoryCode == categoryCode {
            guard let known = Severity(rawValue: given) else { return nil }
            severity = known
        } else {
            guard let edr = EDR(tenThousandths: Int(segment.edrs[index])) else { return nil }
            severity = thresholds.severity(of: edr)
        }
        return takesSeverity[Int(severity.rawValue)] ? severity : nil
    }

    /// Whether the severity that `severity(of:in:)` returns was derived from EDR.
    func isDerived(_ index: Int, in segment: borrowing SegmentColumns) -> Bool {
        let code = RowKey(bits: segment.places[index]).categoryCode
        return segment.severities[index] == Segment.none || !(code == 0 || code == categoryCode)
    }
}

/// A segment's columns as raw memory, for loops over millions of rows.
struct SegmentColumns {
    let places: UnsafeBufferPointer<UInt64>
    let observedAt: UnsafeBufferPointer<UInt32>
    let replacedAt: UnsafeBufferPointer<UInt32>
    let severities: UnsafeBufferPointer<UInt8>
    let edrs: UnsafeBufferPointer<UInt16>
    let kinds: UnsafeBufferPointer<UInt8>
}

extension Segment {
    /// Calls `body` with the columns, which are valid only inside it.
    func withColumns<Result>(_ body: (borrowing SegmentColumns) -> Result) -> Result {
        places.withUnsafeBufferPointer { places in
            observedAt.withUnsafeBufferPointer { observedAt in
                replacedAt.withUnsafeBufferPointer { replacedAt in
                    severities.withUnsafeBufferPointer { severities in
                        edrs.withUnsafeBufferPointer { edrs in
                            kinds.withUnsafeBufferPointer { kinds in
                                body(
                                    SegmentColumns(
                                        places: places, observedAt: observedAt, replacedAt: replacedAt,
                                        severities: severities, edrs: edrs, kinds: kinds))
                            }
                        }
                    }
                }
            }
        }
    }
}
