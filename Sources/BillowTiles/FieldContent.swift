import BillowFields
import BillowRaster
import Geometry
import Turbulence

/// The pixels of a field in a region, one code for each. Equal contents give equal pictures.
///
/// A pixel shows the value of the grid point nearest to its centre, or interpolates between the four points around it
/// (`FieldAppearance.isSmoothed`). A line marks where pixels with a value meet pixels without one.
struct FieldContent: Sendable, Hashable {
    let width: Int
    let height: Int
    /// The code of each pixel, row-major from the north-west.
    let codes: [UInt8]

    /// The meaning of a pixel's byte.
    enum Code {
        /// A value that isn't shown, such as smooth air.
        static let nothing: UInt8 = 0
        /// In a style by severity: 1 plus the severity's number. In a style by scale: 1 plus the scale's step
        /// (`FieldPaint.step(tenThousandths:)`).
        static let firstValue: UInt8 = 1
        /// The line where values end.
        static let edge: UInt8 = 253
        /// A grid point without a value.
        static let missing: UInt8 = 254
        /// Outside the grid.
        static let outside: UInt8 = 255
    }

    /// Samples a field in a region; nil if nothing of it is visible. A region outside the grid isn't nil: it shows that
    /// data is missing there.
    ///
    /// - Parameter paint: decides whether codes are severities or EDRs.
    /// - Complexity: O(pixels). A tile of 256 × 256 pixels needs trigonometry for only 258 columns and 258 rows.
    init?(of field: FieldPicture, in region: MapRegion, paint: FieldPaint) {
        let sampler = FieldSampler(field, paint)
        let margin = region.scale
        let (width, height) = (region.width + 2 * margin, region.height + 2 * margin)
        var kinds = FieldSampler.PixelKinds()
        var codes = [UInt8](unsafeUninitializedCapacity: width * height) { codes, count in
            codes.initialize(repeating: Code.outside)
            sampler.sample(region, margin: margin, width: width, height: height, into: codes, &kinds)
            count = width * height
        }
        if kinds.hasValue, kinds.hasMissing || kinds.hasOutside {
            codes = Self.edged(codes, width: width, height: height, margin: margin)
        } else {
            codes = Self.cropped(codes, width: width, height: height, margin: margin)
        }
        guard codes.contains(where: { $0 != Code.nothing }) else { return nil }
        self.width = region.width
        self.height = region.height
        self.codes = codes
    }

    /// The content of a region without any data.
    static func unknown(in region: MapRegion) -> FieldContent {
        FieldContent(
            width: region.width, height: region.height,
            codes: Array(repeating: Code.outside, count: region.width * region.height))
    }

    /// For tests, and for contents whose codes are known.
    init(width: Int, height: Int, codes: [UInt8]) {
        precondition(codes.count == width * height, "\(codes.count) codes for \(width) × \(height) pixels")
        self.width = width
        self.height = height
        self.codes = codes
    }

    /// Removes the margin.
    private static func cropped(_ codes: [UInt8], width: Int, height: Int, margin: Int) -> [UInt8] {
        var cropped: [UInt8] = []
        cropped.reserveCapacity((width - 2 * margin) * (height - 2 * margin))
        for row in margin..<height - margin {
            cropped.append(contentsOf: codes[row * width + margin..<(row + 1) * width - margin])
        }
        return cropped
    }

    /// Removes the margin, and draws a line as wide as the margin where values end.
    private static func edged(_ codes: [UInt8], width: Int, height: Int, margin: Int) -> [UInt8] {
        codes.withUnsafeBufferPointer { codes in
            var edged: [UInt8] = []
            edged.reserveCapacity((width - 2 * margin) * (height - 2 * margin))
            for row in margin..<height - margin {
                for column in margin..<width - margin {
                    let place = row * width + column
                    let code = codes[place]
                    guard code >= Code.missing else {
                        edged.append(code)
                        continue
                    }
                    var isEdge = false
                    for step in 1...margin {
                        // One of the four neighbours in this distance has a value.
                        isEdge =
                            isEdge || codes[place - step] < Code.edge || codes[place + step] < Code.edge
                            || codes[place - step * width] < Code.edge || codes[place + step * width] < Code.edge
                    }
                    edged.append(isEdge ? Code.edge : code)
                }
            }
            return edged
        }
    }

    /// Mixes in everything in which two contents can differ.
    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(width) << 32 | UInt64(height))
        codes.withUnsafeBytes { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                fingerprint.mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                place += 8
            }
            while place < bytes.count {
                fingerprint.mix(UInt64(bytes[place]))
                place += 1
            }
        }
    }
}

/// Reads a field at the pixels of a region.
struct FieldSampler {
    private let field: FieldPicture
    private let paint: FieldPaint
    /// Codes by hundredths of EDR; the last is the code of a point without a value.
    private let codes: [UInt8]

    /// The kinds of pixels found so far.
    struct PixelKinds {
        var hasValue = false
        var hasMissing = false
        var hasOutside = false
    }

    init(_ field: FieldPicture, _ paint: FieldPaint) {
        self.field = field
        self.paint = paint
        codes = (0...255).map { value in
            value == FieldPlane.missing
                ? FieldContent.Code.missing : field.appearance.code(tenThousandths: value * 100, paint)
        }
    }

    func sample(
        _ region: MapRegion, margin: Int, width: Int, height: Int, into codes: UnsafeMutableBufferPointer<UInt8>,
        _ kinds: inout PixelKinds
    ) {
        let projection = field.projection
        let columns = projection.columns(
            longitudes: (0..<width).map { region.longitude(column: $0 - margin) })
        let rows = projection.rows(
            latitudes: (0..<height).map { min(max(region.latitude(row: $0 - margin), -90), 90) })
        for (number, row) in rows.enumerated() {
            let line = UnsafeMutableBufferPointer(rebasing: codes[number * width..<(number + 1) * width])
            if field.appearance.isSmoothed {
                smoothed(row, columns, into: line, &kinds)
            } else {
                nearest(row, columns, into: line, &kinds)
            }
        }
    }

    private func nearest(
        _ row: GridRow, _ columns: [GridColumn], into line: UnsafeMutableBufferPointer<UInt8>, _ kinds: inout PixelKinds
    ) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: line.count) { cells in
            field.projection.nearestCells(row, columns, into: cells)
            field.plane.values.withUnsafeBufferPointer { values in
                self.codes.withUnsafeBufferPointer { codes in
                    var (outside, missing, shown) = (0, 0, 0)
                    for place in line.indices {
                        let cell = cells[place]
                        guard cell >= 0 else {
                            outside &+= 1
                            continue
                        }
                        let code = codes[Int(values[Int(cell)])]
                        line[place] = code
                        if code == FieldContent.Code.missing { missing &+= 1 } else { shown &+= 1 }
                    }
                    kinds.hasOutside = kinds.hasOutside || outside > 0
                    kinds.hasMissing = kinds.hasMissing || missing > 0
                    kinds.hasValue = kinds.hasValue || shown > 0
                }
            }
        }
    }

    private func smoothed(
        _ row: GridRow, _ columns: [GridColumn], into line: UnsafeMutableBufferPointer<UInt8>, _ kinds: inout PixelKinds
    ) {
        for (place, column) in columns.enumerated() {
            let position = field.projection.position(column, row)
            guard field.projection.contains(position) else {
                kinds.hasOutside = true
                continue
            }
            guard let edr = field.tenThousandths(at: position) else {
                line[place] = FieldContent.Code.missing
                kinds.hasMissing = true
                continue
            }
            line[place] = field.appearance.code(tenThousandths: edr, paint)
            kinds.hasValue = true
        }
    }
}

extension FieldAppearance {
    /// The code of an EDR: by severity exactly, by scale that of the nearest step.
    fileprivate func code(tenThousandths edr: Int, _ paint: FieldPaint) -> UInt8 {
        guard let severity = severity(tenThousandths: edr) else { return FieldContent.Code.nothing }
        if paint.isByScale {
            return paint.step(tenThousandths: edr).map { FieldContent.Code.firstValue + UInt8($0) }
                ?? FieldContent.Code.nothing
        }
        return severity == .smooth && !showsSmoothAir
            ? FieldContent.Code.nothing : FieldContent.Code.firstValue + severity.rawValue
    }
}
