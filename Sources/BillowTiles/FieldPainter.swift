import BillowRaster
import Turbulence

/// Draws fields: directly to palette indices if a tile shows nothing else, otherwise onto a canvas.
struct FieldPainter {
    /// Steps to which a hatch's share of a pixel is rounded, so that all colours fit into the palette.
    private static let hatchSteps = 16

    private let style: Style
    private let region: MapRegion
    /// The steps of the hatch of places without data, for one period from the picture's corner on, row by row. It has
    /// the same lines as that of incomplete pictures. Empty if such places aren't hatched.
    private let hatch: [UInt8]
    private let hatchPeriod: Int
    /// Colours by code; clear for codes that are hatched.
    private let colours: [StraightColour]

    init(style: Style, region: MapRegion) {
        self.style = style
        self.region = region
        let pattern = IncompleteMark.pattern(in: region)
        let period = pattern.pattern.period
        hatchPeriod = period
        hatch =
            style.field.isMissingHatched
            ? (0..<period * period).map { place in
                let coverage = Int(pattern.coverage(x: place % period, y: place / period))
                return UInt8((coverage * Self.hatchSteps + 127) / 255)
            } : []
        var colours = [StraightColour](repeating: .clear, count: 256)
        if style.field.isByScale {
            for step in 0..<style.field.stepCount {
                colours[Int(FieldContent.Code.firstValue) + step] = style.field.colour(step: step)
            }
        } else {
            for severity in Severity.allCases {
                colours[Int(FieldContent.Code.firstValue + severity.rawValue)] = style[severity].fill.colour
            }
        }
        colours[Int(FieldContent.Code.edge)] = style.marks.fieldEdge
        self.colours = colours
    }

    /// Whether every pixel of a content has one of a few colours.
    static func isPlain(_ style: Style) -> Bool { style.field.isByScale || !style.hasPatterns }

    /// The picture of a content alone. The style must meet `isPlain`.
    func picture(_ content: FieldContent) -> IndexedPicture {
        /// The places of colours in the palette by code, and by step of the hatch; −1 for one that isn't there yet.
        var places = [Int16](repeating: -1, count: 256)
        var hatchPlaces = [Int16](repeating: -1, count: Self.hatchSteps + 1)
        var palette: [StraightColour] = []
        func place(of colour: StraightColour) -> Int16 {
            if let known = palette.firstIndex(of: colour) { return Int16(known) }
            palette.append(colour)
            return Int16(palette.count - 1)
        }
        let isHatched = style.field.isMissingHatched
        let period = hatchPeriod
        let indices = [UInt8](unsafeUninitializedCapacity: content.codes.count) { indices, count in
            content.codes.withUnsafeBufferPointer { codes in
                places.withUnsafeMutableBufferPointer { places in
                    hatch.withUnsafeBufferPointer { steps in
                        var at = 0
                        for y in 0..<content.height {
                            let row = y % period * period
                            var column = 0
                            for _ in 0..<content.width {
                                let code = codes[at]
                                var index: Int16
                                if code >= FieldContent.Code.missing, isHatched {
                                    let step = Int(steps[row &+ column])
                                    index = hatchPlaces[step]
                                    if index < 0 {
                                        index = place(of: hatchColour(step))
                                        hatchPlaces[step] = index
                                    }
                                } else {
                                    index = places[Int(code)]
                                    if index < 0 {
                                        index = place(of: colours[Int(code)])
                                        places[Int(code)] = index
                                    }
                                }
                                indices[at] = UInt8(truncatingIfNeeded: index)
                                at &+= 1
                                column = column &+ 1 == period ? 0 : column &+ 1
                            }
                        }
                    }
                }
            }
            count = content.codes.count
        }
        return IndexedPicture(
            width: content.width, height: content.height, indices: indices, palette: palette, shareSteps: 255
        ).translucentFirst()
    }

    /// Draws a content over a canvas.
    func paint(_ content: FieldContent, onto canvas: inout Canvas) {
        let premultiplied = colours.map(\.premultiplied)
        let hatches = (0...Self.hatchSteps).map { hatchColour($0).premultiplied }
        let inks: [ClassInk?] = Severity.allCases.map { severity in
            style.field.isByScale ? nil : ClassInk(style[severity].pattern, over: style[severity].fill.colour, region)
        }
        let hasInks = inks.contains { $0 != nil }
        for y in 0..<content.height {
            for x in 0..<content.width {
                let code = content.codes[y * content.width + x]
                switch code {
                case FieldContent.Code.nothing: continue
                case FieldContent.Code.missing, FieldContent.Code.outside:
                    if style.field.isMissingHatched { canvas.lay(hatches[hatchStep(x, y)], x: x, y: y) }
                default:
                    let severity = Int(code) - Int(FieldContent.Code.firstValue)
                    if hasInks, inks.indices.contains(severity), let ink = inks[severity] {
                        canvas.lay(ink.colour(over: colours[Int(code)], x: x, y: y), x: x, y: y)
                    } else {
                        canvas.lay(premultiplied[Int(code)], x: x, y: y)
                    }
                }
            }
        }
    }

    private func hatchStep(_ x: Int, _ y: Int) -> Int { Int(hatch[y % hatchPeriod * hatchPeriod + x % hatchPeriod]) }

    private func hatchColour(_ step: Int) -> StraightColour {
        var colour = IncompleteMark.colour(style.theme)
        colour.alpha = UInt8((Int(colour.alpha) * step + Self.hatchSteps / 2) / Self.hatchSteps)
        return colour.alpha == 0 ? .clear : colour
    }
}
