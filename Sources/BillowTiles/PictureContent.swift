public import BillowRaster
import BillowSnapshot
import Datasets
import Turbulence

/// The content of a picture, layer by layer: everything that decides its pixels, besides region and style. Equal
/// contents give equal pictures.
public struct PictureContent: Sendable, Hashable {
    enum LayerContent: Sendable, Hashable {
        case cells(TileContent, isBordered: Bool)
        case field(FieldContent)
        case reports([ReportMark])
        case polygons([PolygonMark])
        case areas([AreaMark])
        case traffic([TrafficMark])
        case tracks([TrackMark])
    }

    /// The parts that aren't empty, from bottom to top.
    let parts: [LayerContent]
    /// The labels above all parts. No label overlaps another.
    let labels: [LabelMark]
    /// Whether the picture is hatched, because it lacks data.
    let isHatched: Bool

    /// Whether there is nothing to draw.
    public var isEmpty: Bool { parts.isEmpty && labels.isEmpty && !isHatched }

    /// The allowed maximum of aircraft labels in each 256 × 256 points of the map.
    public static let labelCounts = 0...100
    /// The maximum if none is given.
    public static let defaultLabels = 25

    /// Collects what is visible in a region.
    /// - Parameters:
    ///   - labels: the maximum number of aircraft labels in a block of 256 × 256 points, at zooms that have labels.
    ///   - frame: the whole picture that the region is a part of; nil if other pictures adjoin.
    ///   - isHatched: marks the picture as one that lacks data.
    ///   - style: decides whether a field is shown by severity or by a scale of its own.
    ///   - list: the layers.
    ///   - data: the data of the layers.
    ///   - region: the region.
    public init(
        _ list: LayerList, of data: PictureData, in region: MapRegion, labels: Int = defaultLabels,
        within frame: MapRegion? = nil, isHatched: Bool = false, style: Style? = nil
    ) {
        self.isHatched = isHatched
        var parts: [LayerContent] = []
        var sources: [LabelSource] = []
        var obstacles: LabelObstacles?
        func add<Mark>(_ marks: [Mark], _ labels: LabelSource?, _ part: ([Mark]) -> LayerContent) {
            if !marks.isEmpty { parts.append(part(marks)) }
            if let labels { sources.append(labels) }
        }
        func addAreas(_ areas: DrawnAreas) {
            add(AreaMark.marks(of: areas.areas, in: region), AreaMark.labels(of: areas, in: region)) { .areas($0) }
        }
        func addCells(_ plane: FramePlane?, isBordered: Bool) {
            guard let plane else { return }
            let resolution = DrawnResolution.of(zoom: region.zoom)
            let cells = TileContent(of: plane, in: region.box(), resolution: resolution)
            if !cells.isEmpty { parts.append(.cells(cells, isBordered: isBordered)) }
        }
        for layer in list.layers {
            switch layer.drawing {
            case nil: break
            case .field:
                let content =
                    data.lacksField
                    ? FieldContent.unknown(in: region)
                    : data.field.flatMap { FieldContent(of: $0, in: region, paint: style?.field ?? .standard) }
                if let content { parts.append(.field(content)) }
            case .cells(let zoom): addCells(data.plane, isBordered: region.zoom >= zoom)
            case .polygons:
                switch data.polygons {
                case nil: break
                case .cells(let plane): addCells(plane, isBordered: false)
                case .issued(let areas): add(PolygonMark.marks(of: areas, in: region), nil) { .polygons($0) }
                }
            case .reports:
                let (marks, labels) = ReportMark.marks(of: data.rankedReports, in: region)
                add(marks, labels) { .reports($0) }
                obstacles = data.rankedReports.placed(on: region.world).obstacles
            case .areas: if let areas = layer.areas.flatMap({ data.drawnAreas[$0] }) { addAreas(areas) }
            case .aircraft:
                let (marks, labels) = TrafficMark.marks(of: data.traffic, labels: labels, in: region)
                add(marks, labels) { .traffic($0) }
            case .tracks: add(TrackMark.marks(of: data.tracks, in: region), nil) { .tracks($0) }
            }
        }
        self.parts = parts
        // The top layers get their labels first.
        self.labels =
            sources.isEmpty
            ? [] : LabelField(sources.reversed(), in: region, within: frame, obstacles: obstacles).marks()
    }

    /// A 128-bit digest of the content and of the parts of the style that it uses, for cache keys and entity tags.
    /// - Throws: `style` if a style has too many borders.
    public func fingerprint(style: Style) throws(PictureError) -> Fingerprint {
        var fingerprint = Fingerprint()
        style.mixTheme(into: &fingerprint)
        for part in parts {
            part.mix(into: &fingerprint)
            switch part {
            case .cells(_, let isBordered):
                let classes: HexagonClasses
                do { classes = isBordered ? try HexagonClasses(style) : HexagonClasses(polygonsOf: style) } catch {
                    throw .style(error)
                }
                classes.mix(into: &fingerprint)
                style.mixPatterns(into: &fingerprint)
            case .field:
                style.field.mix(into: &fingerprint)
                style.mixMarks(into: &fingerprint)
                style.mixPatterns(into: &fingerprint)
            case .polygons:
                HexagonClasses(polygonsOf: style).mix(into: &fingerprint)
                style.mixPatterns(into: &fingerprint)
            case .reports, .areas, .traffic, .tracks: style.mixMarks(into: &fingerprint)
            }
        }
        if !labels.isEmpty {
            fingerprint.mix(7 << 32 | UInt64(labels.count))
            for label in labels { label.mix(into: &fingerprint) }
            style.mixMarks(into: &fingerprint)
        }
        if isHatched { fingerprint.mix(9 << 32) }
        return fingerprint
    }
}

extension Style {
    /// Mixes in everything that drawing reads from the style. Styles with equal digests draw equal pictures.
    package func mix(into fingerprint: inout Fingerprint) {
        mixTheme(into: &fingerprint)
        mixMarks(into: &fingerprint)
        mixPatterns(into: &fingerprint)
        field.mix(into: &fingerprint)
        for severity in Severity.allCases { fingerprint.mix(self[severity].border.map { UInt64($0.colour.bits) } ?? 0) }
    }

    /// The theme decides the colour of hatches, whatever else is drawn.
    fileprivate func mixTheme(into fingerprint: inout Fingerprint) { fingerprint.mix(theme.rawValue) }

    fileprivate func mixPatterns(into fingerprint: inout Fingerprint) {
        guard hasPatterns else { return }
        for severity in Severity.allCases {
            guard let pattern = self[severity].pattern else {
                fingerprint.mix(0)
                continue
            }
            fingerprint.mix(pattern.kind.rawValue)
            fingerprint.mix(UInt64(pattern.paint.colour.bits) << 8 | UInt64(pattern.spacing))
            fingerprint.mix(pattern.width.bitPattern)
        }
    }

    fileprivate func mixMarks(into fingerprint: inout Fingerprint) {
        for colour in marks.all + Severity.allCases.map({ self[$0].fill.colour }) {
            fingerprint.mix(UInt64(colour.bits))
        }
    }
}

extension FieldPaint {
    fileprivate func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(10 << 32 | UInt64(scale.count) << 1 | (isMissingHatched ? 1 : 0))
        for stop in scale { fingerprint.mix(UInt64(stop.hundredths) << 32 | UInt64(stop.paint.colour.bits)) }
    }
}

extension PictureContent.LayerContent {
    fileprivate func mix(into fingerprint: inout Fingerprint) {
        func mixAll<Mark>(_ kind: UInt64, _ marks: [Mark], _ mix: (Mark, inout Fingerprint) -> Void) {
            fingerprint.mix(kind << 32 | UInt64(marks.count))
            for mark in marks { mix(mark, &fingerprint) }
        }
        switch self {
        case .cells(let cells, let isBordered):
            fingerprint.mix(isBordered ? 1 : 2)
            cells.mix(into: &fingerprint)
        case .field(let content):
            fingerprint.mix(11)
            content.mix(into: &fingerprint)
        case .reports(let marks): mixAll(3, marks) { $0.mix(into: &$1) }
        case .areas(let marks): mixAll(4, marks) { $0.mix(into: &$1) }
        case .traffic(let marks): mixAll(5, marks) { $0.mix(into: &$1) }
        case .tracks(let marks): mixAll(6, marks) { $0.mix(into: &$1) }
        // 7 is the number of the labels.
        case .polygons(let marks): mixAll(8, marks) { $0.mix(into: &$1) }
        }
    }
}

extension StraightColour {
    fileprivate var bits: UInt32 { UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha) }
}
