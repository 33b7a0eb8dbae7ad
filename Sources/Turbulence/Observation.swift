package import Geometry

/// A turbulence report: its place, altitude, intensity, time and source. It is stored once, however many blocks it
/// spans.
package struct Observation: Sendable, Hashable {
    /// The id given by its reporter. If it is nil, the content is the identity.
    package var id: String?
    package var cell: Cell
    package var altitude: AltitudeBand
    package var intensity: Intensity
    package var observedAt: Instant
    /// The aircraft category that the severity applies to; nil if none is given.
    package var category: AircraftCategory?
    /// The source's name, from the configuration or the file.
    package var source: SourceID
    package var kind: ObservationKind
    /// The reporting aircraft or its type, as reported.
    package var aircraft: String?

    package init(
        id: String? = nil, cell: Cell, altitude: AltitudeBand, intensity: Intensity, observedAt: Instant,
        category: AircraftCategory? = nil, source: SourceID, kind: ObservationKind = .inSitu, aircraft: String? = nil
    ) {
        self.id = id
        self.cell = cell
        self.altitude = altitude
        self.intensity = intensity
        self.observedAt = observedAt
        self.category = category
        self.source = source
        self.kind = kind
        self.aircraft = aircraft
    }
}

/// The reported intensity: a severity, an EDR, or both.
public enum Intensity: Sendable, Hashable {
    /// A reported severity, with or without an EDR.
    case reported(Severity, edr: EDR?)
    /// Only an EDR, whose severity depends on the aircraft's category.
    case measured(EDR)

    /// The reported severity; nil for a measured EDR alone.
    public var severity: Severity? { if case .reported(let severity, _) = self { severity } else { nil } }
    /// The EDR; nil if none was reported.
    public var edr: EDR? {
        switch self {
        case .reported(_, let edr): edr
        case .measured(let edr): edr
        }
    }

    /// Returns nil if both are nil.
    public init?(severity: Severity?, edr: EDR?) {
        if let severity {
            self = .reported(severity, edr: edr)
        } else if let edr {
            self = .measured(edr)
        } else {
            return nil
        }
    }
}

/// Eddy dissipation rate: the cube root of ε, in m^(2/3) s⁻¹, 0…1, independent of the aircraft. It is stored with four
/// decimals.
///
/// Source: ICAO Annex 3, 20th edition, appendix 6; WMO-No. 306 (0 11 075)
public struct EDR: Sendable, Hashable, Comparable {
    /// The EDR in ten-thousandths: 0…10,000.
    public let tenThousandths: UInt16

    /// The EDR in m^(2/3) s⁻¹.
    public var value: Double { Double(tenThousandths) / 10_000 }

    /// Returns nil outside 0…1, and for not a number.
    public init?(_ value: Double) {
        guard value >= 0, value <= 1 else { return nil }
        tenThousandths = UInt16((value * 10_000).rounded())
    }

    /// Returns nil outside 0…10,000.
    public init?(tenThousandths: Int) {
        guard (0...10_000).contains(tenThousandths) else { return nil }
        self.tenThousandths = UInt16(tenThousandths)
    }

    init(unchecked tenThousandths: UInt16) { self.tenThousandths = tenThousandths }

    public static func < (a: EDR, b: EDR) -> Bool { a.tenThousandths < b.tenThousandths }
}

/// The origin of an observation.
public enum ObservationKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Measured or computed on board.
    case inSitu = 0
    /// Reported by a pilot.
    case pilotReport = 1
    /// A computed value with a severity that the source's query excludes. It supersedes older observations of its place
    /// by the merge rule, but is not shown.
    case superseding = 2

    /// The name in URLs and files.
    public var name: String {
        switch self {
        case .inSitu: "in-situ"
        case .pilotReport: "pilot-report"
        case .superseding: "superseding"
        }
    }

    /// Whether frames and features show it.
    package var isShown: Bool { self != .superseding }

    /// The kinds that requests may name.
    package static let shown = allCases.filter(\.isShown)

    /// Parses the name of a kind that requests may name.
    public init?(name: some StringProtocol) {
        guard let match = ObservationKind.shown.first(where: { $0.name == name }) else { return nil }
        self = match
    }
}

/// The name of a source: 1–64 letters, digits, `-`, `_` and `.`.
public struct SourceID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name as text.
    public let name: String

    /// Returns nil for a text that is no valid name.
    public init?(_ name: some StringProtocol) {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(SourceID.isAllowed) else { return nil }
        self.name = String(name)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    public var description: String { name }
    public static func < (a: SourceID, b: SourceID) -> Bool { a.name < b.name }
}

/// How a source's observations affect each other.
public enum MergeRule: UInt8, Sendable, Hashable {
    /// Independent reports: each is current for its whole history.
    case keep = 0
    /// Computed values: the newest observation of (source, category, cell, altitude) supersedes earlier ones.
    case replace = 1
}

/// An aircraft category, C10 (light propeller) to C110 (A380), in steps of ten.
///
/// Source: docs/upstreams/skypath.md, "The model of the data" (aircraft category)
public struct AircraftCategory: Sendable, Hashable, Comparable {
    /// The category's number: 10, 20, … 110.
    public let number: UInt8

    /// The default: C60.
    public static let `default` = AircraftCategory(uncheckedNumber: 60)
    /// All categories, C10 to C110.
    public static let all = (1...11).map { AircraftCategory(uncheckedNumber: UInt8($0 * 10)) }

    /// Returns nil for a number that isn't 10, 20, … 110.
    public init?(number: Int) {
        guard (10...110).contains(number), number % 10 == 0 else { return nil }
        self.number = UInt8(number)
    }

    /// Parses a name such as `C60`.
    public init?(_ text: some StringProtocol) {
        guard let match = AircraftCategory.all.first(where: { $0.name == text }) else { return nil }
        self = match
    }

    private init(uncheckedNumber number: UInt8) { self.number = number }

    /// The name: `C60` for the number 60.
    public var name: String { AircraftCategory.names[Int(number) / 10 - 1] }
    private static let names = (1...11).map { "C\($0 * 10)" }
    public static func < (a: AircraftCategory, b: AircraftCategory) -> Bool { a.number < b.number }
}

/// The origin of an observation's severity.
public enum SeverityBasis: String, Sendable, Hashable {
    /// Derived from EDR by the category's thresholds.
    case edr
    /// As the source reported it.
    case reported
}
