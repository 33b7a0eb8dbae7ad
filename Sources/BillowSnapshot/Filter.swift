package import BillowFields
public import Turbulence

/// What a picture is asked for, besides where and when: the one filter grammar of every route.
public struct Filter: Sendable, Hashable {
    /// How far the picture looks back, in seconds: one of the histories, or 1…21,600 of an interval's own.
    public var lookBackSeconds: Int
    /// The severities that are shown.
    public var severities: SeveritySet
    /// Shown is what overlaps these altitudes.
    public var altitudes: AltitudeRange
    /// nil for every source.
    public var sources: Set<SourceID>?
    /// nil for every kind.
    public var kinds: Set<ObservationKind>?
    /// Of issued areas; nil for every kind.
    public var areaKinds: Set<String>?
    /// The category that measured values are judged for.
    public var category: AircraftCategory
    /// Of turbulence fields.
    package var field = FieldSelection()

    /// Takes everything of the last two hours, unless told otherwise.
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

/// What of the turbulence fields a picture shows, and how.
package struct FieldSelection: Sendable, Hashable {
    /// nil for both: nowcasts up to now, forecasts ahead.
    package var product: FieldProduct?
    /// nil for the newest run.
    package var run: Instant?
    /// Whether values between the points of the grid are interpolated.
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

/// A filter at an instant, made ready to be put to millions of rows.
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

    /// The severity that a row stands for, or nil where it is not part of the picture.
    ///
    /// It stands from its observation until it is replaced or its history is over; a severity that was given counts for
    /// the category that it was given for (for all, where none was named), else its EDR is classed by the category's
    /// table.
    @inline(__always)
    func severity(of index: Int, in segment: borrowing SegmentColumns) -> Severity? {
        let observed = segment.observedAt[index]
        guard observed > after, observed <= upTo, segment.replacedAt[index] > upTo else { return nil }
        let place = RowPlace(bits: segment.places[index])
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

    /// Whether the severity that `severity(of:in:)` gives was derived from EDR.
    func isDerived(_ index: Int, in segment: borrowing SegmentColumns) -> Bool {
        let code = RowPlace(bits: segment.places[index]).categoryCode
        return segment.severities[index] == Segment.none || !(code == 0 || code == categoryCode)
    }
}

/// A segment's columns as plain memory, for the loops over millions of rows.
struct SegmentColumns {
    let places: UnsafeBufferPointer<UInt64>
    let observedAt: UnsafeBufferPointer<UInt32>
    let replacedAt: UnsafeBufferPointer<UInt32>
    let severities: UnsafeBufferPointer<UInt8>
    let edrs: UnsafeBufferPointer<UInt16>
    let kinds: UnsafeBufferPointer<UInt8>
}

extension Segment {
    /// The columns are valid only inside `body`.
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
