extension Canvas {
    /// Colours of more than 1/400 of the picture's pixels stay exact, the most frequent first.
    private static let wholeShare = 400
    private static let maximumExactColours = 160

    /// The picture as a PNG file with straight alpha and exact colours: with a palette if 256 colours are enough,
    /// otherwise as true colour.
    public func png(level: Int = 6) throws(PNGError) -> [UInt8] {
        let picture = indexed()
        guard picture.shareSteps == 255 else {
            return try PNG.encode(rgba: pixels.map(\.straight), width: width, height: height, level: level)
        }
        return try PNG.encode(picture, level: level)
    }

    /// The picture as a PNG file with a palette, even if colours must be merged.
    /// - Parameter exact: see `indexed`.
    public func indexedPNG(keeping exact: [StraightColour]) throws(PNGError) -> [UInt8] {
        try PNG.encode(indexed(keeping: exact), level: 6)
    }

    /// The picture with a palette, translucent colours first. If there are more than 256 colours, similar ones are
    /// merged as in `PaletteBuilder`, except for the most frequent ones.
    /// - Parameter exact: further colours that must not be merged.
    public func indexed(keeping exact: [StraightColour] = []) -> IndexedPicture {
        let runs = RunList(pixels, width: width, height: height)
        defer { runs.deallocate() }
        let whole = exact.map { (key: PixelColour($0.premultiplied), colour: $0) } + commonest(runs)
        return ColourGroups(whole: whole).picture(of: runs, width: width, height: height).translucentFirst()
    }

    private func commonest(_ runs: RunList) -> [(key: PixelColour, colour: StraightColour)] {
        var counts = ColourCounts()
        for row in 0..<height {
            for run in runs.rowStarts[row]..<runs.rowStarts[row + 1] {
                let end = run + 1 < runs.rowStarts[row + 1] ? runs.runs[run + 1].column : width
                counts.add(end - runs.runs[run].column, of: runs.runs[run].colour)
            }
        }
        let common = counts.all().filter { $0.value > width * height / Canvas.wholeShare }
        return common.sorted { ($1.value, $0.key.bits) < ($0.value, $1.key.bits) }.prefix(Canvas.maximumExactColours)
            .map {
                ($0.key, $0.key.straight)
            }
    }
}

/// The number of pixels of each colour.
private struct ColourCounts {
    /// The colours seen last, each at the slot of its hash, with the pixels that aren't in `others` yet. Most runs have
    /// one of few colours, and a look at a slot is far cheaper than one in the dictionary.
    private var slots = [(colour: PixelColour, pixels: Int)](
        repeating: (PixelColour(bits: 0), 0), count: 1 << slotBits)
    private var others: [PixelColour: Int] = [:]

    private static let slotBits: UInt32 = 9

    mutating func add(_ pixels: Int, of colour: PixelColour) {
        let slot = Int(truncatingIfNeeded: (colour.bits &* 0x9E37_79B1) &>> (32 - Self.slotBits))
        if slots[slot].colour != colour {
            if slots[slot].pixels > 0 { others[slots[slot].colour, default: 0] += slots[slot].pixels }
            slots[slot] = (colour, 0)
        }
        slots[slot].pixels += pixels
    }

    consuming func all() -> [PixelColour: Int] {
        for (colour, pixels) in slots where pixels > 0 { others[colour, default: 0] += pixels }
        return others
    }
}

extension IndexedPicture {
    /// The picture over a background of one colour.
    package func on(_ ground: StraightColour) -> IndexedPicture {
        var picture = self
        picture.palette = palette.map { $0.premultiplied.over(ground.premultiplied).straight }
        return picture
    }

    /// The picture with its palette sorted by opacity: tRNS ends with the last colour that isn't opaque.
    package func translucentFirst() -> IndexedPicture {
        let order = palette.indices.sorted { (palette[$0].alpha, $0) < (palette[$1].alpha, $1) }
        var places = [UInt8](repeating: 0, count: 256)
        for (place, index) in order.enumerated() { places[index] = UInt8(truncatingIfNeeded: place) }
        var picture = self
        picture.palette = order.map { palette[$0] }
        guard order != Array(palette.indices) else { return self }
        picture.indices = [UInt8](unsafeUninitializedCapacity: indices.count) { sorted, count in
            places.withUnsafeBufferPointer { places in
                for (at, index) in indices.enumerated() { sorted[at] = places[Int(index)] }
            }
            count = indices.count
        }
        return picture
    }
}

extension PNG {
    fileprivate static func encode(_ picture: IndexedPicture, level: Int) throws(PNGError) -> [UInt8] {
        try encode(
            indexed: picture.indices, width: picture.width, height: picture.height, palette: picture.palette,
            level: level)
    }
}

extension RunList {
    /// Makes the runs of a picture, in row-major order.
    fileprivate init(_ pixels: [PremultipliedColour], width: Int, height: Int) {
        self = pixels.withUnsafeBufferPointer { pixels in
            var count = height
            for row in 0..<height {
                let first = row &* width
                for at in first &+ 1..<first &+ width where pixels[at] != pixels[at &- 1] { count &+= 1 }
            }
            let list = RunList(capacity: count, rows: height)
            var run = 0
            for row in 0..<height {
                list.rowStarts[row] = run
                let first = row &* width
                for column in 0..<width where column == 0 || pixels[first &+ column] != pixels[first &+ column &- 1] {
                    list.runs[run] = Run(column: column, colour: PixelColour(pixels[first &+ column]))
                    run &+= 1
                }
            }
            list.rowStarts[height] = run
            return list
        }
    }
}

extension PixelColour {
    init(_ colour: PremultipliedColour) {
        self.init(
            bits: UInt32(colour.red) | UInt32(colour.green) << 8 | UInt32(colour.blue) << 16
                | UInt32(colour.alpha) << 24)
    }
}
