public import BillowSnapshot
import Datasets
public import Turbulence

/// The data of the pictures of one instant, already filtered. Data that no layer of a picture needs (`LayerList.needs`)
/// may be left empty.
public struct PictureData: Sendable {
    /// The instant that the pictures show.
    public let instant: Instant
    /// The data of the cell layers.
    public var plane: FramePlane?
    /// The data of the turbulence polygon layer; nil if there is none.
    public var polygons: Polygons?
    /// The pilot reports.
    public var reports: [PilotReport] {
        get { rankedReports.reports }
        set { rankedReports = RankedReports(newValue) }
    }
    /// The same, sorted once for all pictures.
    package var rankedReports: RankedReports
    /// The areas of each dataset of areas.
    public var areas: [IssuedArea.DatasetNumber: [IssuedArea]] {
        get { drawnAreas.mapValues { $0.areas.map(\.area) } }
        set { drawnAreas = Self.drawn(newValue, at: instant) }
    }
    /// The same, with their looks, which are found once for all pictures.
    package var drawnAreas: [IssuedArea.DatasetNumber: DrawnAreas]
    /// The positions of aircraft.
    public var positions: [AircraftPosition] {
        get { traffic.positions }
        set { traffic = DrawnTraffic(newValue) }
    }
    /// The same, with their places, which are found once for all pictures.
    package var traffic: DrawnTraffic
    /// The tracks: each has the positions of one aircraft, oldest first.
    public var tracks: [[AircraftPosition]]

    /// The turbulence field; nil if there is none at the instant.
    package var field: FieldPicture?
    /// Whether fields exist, but none of the instant has a level at the altitudes that are shown. The picture then
    /// shows missing data, because blank pixels would look like smooth air.
    package var lacksField = false

    /// The source of the turbulence polygon layer: one of two.
    public enum Polygons: Sendable {
        /// Polygons that Billow dissolves from cells.
        case cells(FramePlane)
        /// Polygons as an upstream issued them. Those without a severity aren't drawn.
        case issued([IssuedArea])
    }

    /// Data that isn't given isn't drawn.
    public init(
        instant: Instant, plane: FramePlane? = nil, polygons: Polygons? = nil, reports: [PilotReport] = [],
        areas: [IssuedArea.DatasetNumber: [IssuedArea]] = [:], positions: [AircraftPosition] = [],
        tracks: [[AircraftPosition]] = []
    ) {
        self.instant = instant
        self.plane = plane
        self.polygons = polygons
        rankedReports = RankedReports(reports)
        drawnAreas = Self.drawn(areas, at: instant)
        traffic = DrawnTraffic(positions)
        self.tracks = tracks
    }

    private static func drawn(_ areas: [IssuedArea.DatasetNumber: [IssuedArea]], at instant: Instant)
        -> [IssuedArea.DatasetNumber: DrawnAreas]
    {
        areas.mapValues { DrawnAreas($0, at: instant) }
    }
}
