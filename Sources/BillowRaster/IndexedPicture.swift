/// A picture of palette indices, as in an indexed PNG.
public struct IndexedPicture: Sendable {
    /// Pixels per row.
    public let width: Int
    /// The number of rows.
    public let height: Int
    /// Row-major from the north-west corner, one byte per pixel.
    public var indices: [UInt8]
    /// 1…256 entries, each the colour of at least one pixel. If a picture has empty pixels, their colour is entry 0.
    public var palette: [StraightColour]
    /// The number of steps to which each premultiplied channel was quantised: 255, or fewer if there were more than 256
    /// colours. Pixels covered completely by one class are exact at any value.
    public var shareSteps: Int

    package init(width: Int, height: Int, indices: [UInt8], palette: [StraightColour], shareSteps: Int) {
        self.width = width
        self.height = height
        self.indices = indices
        self.palette = palette
        self.shareSteps = shareSteps
    }
}

/// Converts drained rasters to pictures of at most 256 colours. It reuses its tables, so it makes one picture at a
/// time.
///
/// A picture is first recorded as runs of exact colours. If there are more than 256 colours, similar ones are merged:
/// channels are quantised to 64 steps, then to fewer until 256 colours remain. Each palette entry is the mean of its
/// colours. The colours of whole classes, and full transparency, stay exact.
package final class PaletteBuilder {
    private var runs = RunList(capacity: 0, rows: 0)
    private let groups: ColourGroups

    /// The colours of the raster's classes 1, 2, …
    package init(classColours: [StraightColour]) {
        groups = ColourGroups(classColours: classColours)
    }

    deinit { runs.deallocate() }

    /// Drains `raster` and returns its picture.
    package func picture(from raster: InkRaster) -> IndexedPicture {
        let most = raster.width * raster.height + 1
        if runs.capacity < most || runs.rows < raster.height {
            runs.deallocate()
            runs = RunList(capacity: most, rows: raster.height)
        }
        raster.drain(into: runs)
        return groups.picture(of: runs, width: raster.width, height: raster.height)
    }
}

extension RunList {
    /// The runs as one byte per pixel: the palette index of each run's group, and 0 before a row's first run.
    fileprivate func expanded(width: Int, height: Int, _ groups: UnsafePointer<UInt16>, by palette: [UInt8]) -> [UInt8]
    {
        // Sixteen bytes more than needed: runs are written sixteen at a time, and the excess is overwritten.
        return [UInt8](unsafeUninitializedCapacity: width * height + 16) { pixels, count in
            guard let base = UnsafeMutableRawPointer(pixels.baseAddress) else { return }
            let (runs, rowStarts) = (runs, rowStarts)
            /// Fills the pixels from `first` up to but excluding `end`.
            @inline(__always)
            func fill(_ index: UInt8, from first: UnsafeMutableRawPointer, to end: UnsafeMutableRawPointer) {
                let sixteen = SIMD16(repeating: index)
                first.storeBytes(of: sixteen, as: SIMD16<UInt8>.self)
                var at = first + 16
                while at < end {
                    at.storeBytes(of: sixteen, as: SIMD16<UInt8>.self)
                    at += 16
                }
            }
            palette.withUnsafeBufferPointer { palette in
                for row in 0..<height {
                    let start = base + row &* width
                    var at = start
                    var index: UInt8 = 0
                    for run in rowStarts[row]..<rowStarts[row &+ 1] {
                        let next = start + runs[run].column
                        fill(index, from: at, to: next)
                        at = next
                        index = palette[Int(groups[run])]
                    }
                    fill(index, from: at, to: start + width)
                }
            }
            count = width * height
        }
    }
}

/// A colour and the column of its row where it starts.
struct Run {
    private let bits: UInt64

    @inline(__always)
    init(column: Int, colour: PixelColour) {
        bits = UInt64(truncatingIfNeeded: column) &<< 32 | UInt64(colour.bits)
    }

    @inline(__always)
    var column: Int { Int(truncatingIfNeeded: bits &>> 32) }
    @inline(__always)
    var colour: PixelColour { PixelColour(bits: UInt32(truncatingIfNeeded: bits)) }
}

/// A picture as runs of pixels of one colour. Each run ends at the next run of its row, or at the row's end. Pixels
/// before the first run are empty.
struct RunList {
    let capacity: Int
    let rows: Int
    let runs: UnsafeMutablePointer<Run>
    /// The group of each run's colour, by exact colour and by quantised colour.
    let exactGroups: UnsafeMutablePointer<UInt16>
    let steppedGroups: UnsafeMutablePointer<UInt16>
    /// The index of each row's first run, and at the end the number of runs.
    let rowStarts: UnsafeMutablePointer<Int>

    init(capacity: Int, rows: Int) {
        self.capacity = capacity
        self.rows = rows
        runs = .allocate(capacity: capacity)
        exactGroups = .allocate(capacity: capacity)
        steppedGroups = .allocate(capacity: capacity)
        rowStarts = .allocate(capacity: rows + 1)
    }

    func deallocate() {
        runs.deallocate()
        exactGroups.deallocate()
        steppedGroups.deallocate()
        rowStarts.deallocate()
    }
}

/// Makes the palette of a picture's colours. It is exact for at most 256 colours; otherwise similar colours are merged.
final class ColourGroups {
    /// Full transparency, then the colours of the classes without duplicates. They are the first groups.
    private let whole: [(key: PixelColour, colour: StraightColour)]
    private(set) var palette: [StraightColour] = []
    /// The palette index of every group.
    private(set) var indices: [UInt8] = []
    /// The indices of the next attempt; `indices` may still be the best.
    private var otherIndices: [UInt8] = []
    private let table = ColourTable(bits: 13)
    private let smallTable = ColourTable(bits: 11)

    /// The elements of `firstSteps` at which all whole colours are quantised to different values.
    private let stepsApart: [UInt64]

    private static let firstSteps: [UInt64] = [64, 32, 16, 1]
    /// The maximum number of groups; with more, a coarser quantisation is tried.
    private static let most = 2_048
    private static let maximumColours = 256
    /// The possible numbers of steps per channel. With one step there are at most 16 colours.
    private static let steps: [UInt64] = [64, 56, 48, 42, 37, 32, 28, 24, 21, 18, 16, 14, 12, 10, 8, 6, 4, 2, 1]

    convenience init(classColours: [StraightColour]) {
        self.init(whole: classColours.map { (PixelColour($0), $0) })
    }

    /// - Parameter whole: colours that must stay exact, at most 200, in addition to full transparency.
    init(whole colours: [(key: PixelColour, colour: StraightColour)]) {
        var whole: [(key: PixelColour, colour: StraightColour)] = []
        for (key, colour) in [(PixelColour(StraightColour.clear), .clear)] + colours {
            if !whole.contains(where: { $0.key == key }) { whole.append((key, colour)) }
        }
        self.whole = whole
        stepsApart = Self.firstSteps.filter { steps in Set(whole.map { $0.key.stepped(steps) }).count == whole.count }
    }

    /// Makes the picture of some runs.
    func picture(of runs: RunList, width: Int, height: Int) -> IndexedPicture {
        let (steps, groups) = group(runs, count: runs.rowStarts[height])
        // Removing entries can only reduce the bit depth if there are few colours.
        if palette.count <= 16 + whole.count { leaveOutUnused(of: runs, groups, height: height) }
        return IndexedPicture(
            width: width, height: height, indices: runs.expanded(width: width, height: height, groups, by: indices),
            palette: palette, shareSteps: steps)
    }

    /// Removes whole colours without pixels from the palette.
    private func leaveOutUnused(of runs: RunList, _ groups: UnsafePointer<UInt16>, height: Int) {
        var isUsed = [Bool](repeating: false, count: palette.count)
        for row in 0..<height {
            let (first, end) = (runs.rowStarts[row], runs.rowStarts[row + 1])
            // Pixels before the first run are empty.
            if first == end || runs.runs[first].column > 0 { isUsed[0] = true }
            for run in first..<end { isUsed[Int(indices[Int(groups[run])])] = true }
        }
        let kept = palette.indices.filter { isUsed[$0] }
        var places = [UInt8](repeating: 0, count: palette.count)
        for (place, old) in kept.enumerated() { places[old] = UInt8(truncatingIfNeeded: place) }
        palette = kept.map { palette[$0] }
        indices = indices.map { places[Int($0)] }
    }

    /// Assigns every run to a group and makes the palette. Returns the number of steps per channel, and the groups.
    private func group(_ runs: RunList, count: Int) -> (steps: Int, groups: UnsafePointer<UInt16>) {
        // If even the quantised colours exceed a palette, the exact ones do too. So quantised colours are tried first
        // if that is cheap.
        let stepsFirst = stepsApart.contains(Self.firstSteps[0])
        let (exact, stepped) = (UnsafePointer(runs.exactGroups), UnsafePointer(runs.steppedGroups))
        if !stepsFirst, assignExact(runs, count) { return (255, exact) }
        // A single step per channel always fits.
        let steps = Self.firstSteps.first { assign(runs, count, steps: $0) } ?? 1
        let colours = (whole.count..<table.count).map { PixelColour(stepped: table.keys[$0], steps) }
        if table.count > Self.maximumColours { return (reduce(colours, steps: steps), stepped) }
        if stepsFirst, assignExact(runs, count) { return (255, exact) }
        finish(colours.map(\.straight))
        return (Int(steps), stepped)
    }

    /// Makes the palette of the exact colours; returns false if there are too many.
    private func assignExact(_ runs: RunList, _ count: Int) -> Bool {
        guard assign(runs, count, to: runs.exactGroups, most: Self.maximumColours, smallTable, key: { $0.bits }) else {
            return false
        }
        finish((whole.count..<smallTable.count).map { PixelColour(bits: smallTable.keys[$0]).straight })
        return true
    }

    /// Assigns runs to groups by quantised colour. A colour that is quantised like a whole colour is drawn in that
    /// colour. If two whole colours are quantised alike, only their exact pixels are.
    private func assign(_ runs: RunList, _ count: Int, steps: UInt64) -> Bool {
        if stepsApart.contains(steps) {
            return assign(runs, count, to: runs.steppedGroups, most: Self.most, table) { $0.stepped(steps) }
        }
        // A quantised colour never has the highest bit set.
        return assign(runs, count, to: runs.steppedGroups, most: Self.most, table) { colour in
            whole.firstIndex { $0.key == colour }.map { 1 << 31 | UInt32($0) } ?? colour.stepped(steps)
        }
    }

    /// Assigns every run to the group of its key; returns false if there are more than `most` groups.
    @inline(__always)
    private func assign(
        _ runs: RunList, _ count: Int, to groups: UnsafeMutablePointer<UInt16>, most: Int, _ table: ColourTable,
        key: (PixelColour) -> UInt32
    ) -> Bool {
        table.removeAll()
        for (number, entry) in whole.enumerated() { table.add(key(entry.key), number: number) }
        let runs = runs.runs
        for run in 0..<count {
            let group = table.number(of: key(runs[run].colour))
            groups[run] = UInt16(truncatingIfNeeded: group)
            if group >= most { return false }
        }
        return true
    }

    /// Makes one palette entry for each group.
    private func finish(_ colours: [StraightColour]) {
        palette = whole.map(\.colour) + colours
        indices = palette.indices.map { UInt8(truncatingIfNeeded: $0) }
    }

    /// Merges groups at fewer steps until they fit into a palette. Each entry is the mean of the merged colours.
    private func reduce(_ colours: [PixelColour], steps: UInt64) -> Int {
        let first = whole.count
        // Find the largest number of steps with few enough groups. The number of groups falls about in proportion to
        // the steps, which gives the first attempt.
        let wanted = steps * UInt64(Self.maximumColours - first) / UInt64(colours.count)
        var enough = Self.steps.firstIndex { $0 <= wanted } ?? 0
        var groups = number(colours, steps: Self.steps[enough])
        if groups == nil {
            repeat {
                enough += 1
                groups = number(colours, steps: Self.steps[enough])
            } while groups == nil
        } else {
            while enough > 0, Self.steps[enough - 1] < steps {
                swap(&indices, &otherIndices)
                guard let more = number(colours, steps: Self.steps[enough - 1]) else {
                    swap(&indices, &otherIndices)
                    break
                }
                enough -= 1
                groups = more
            }
        }
        let groupCount = groups ?? first
        var sums = [SIMD4<Int32>](repeating: .zero, count: groupCount)
        var counts = [Int32](repeating: 0, count: groupCount)
        for (colour, index) in zip(colours, indices[first...]) {
            sums[Int(index)] &+= SIMD4(truncatingIfNeeded: colour.channels)
            counts[Int(index)] += 1
        }
        palette = whole.map(\.colour)
        for number in first..<groupCount {
            let count = SIMD4(repeating: counts[number])
            palette.append(
                PixelColour(channels: SIMD4(truncatingIfNeeded: (sums[number] &+ count / 2) / count)).straight)
        }
        return Int(min(Self.steps[enough], steps))
    }

    /// Numbers colours by their quantised values in `indices`, after the whole ones. Returns the number of groups, or
    /// nil if there are too many.
    private func number(_ colours: [PixelColour], steps: UInt64) -> Int? {
        smallTable.removeAll()
        // A quantised colour never has the highest bit set.
        for number in whole.indices { smallTable.add(1 << 31 | UInt32(number), number: number) }
        if indices.count != whole.count + colours.count {
            indices = [UInt8](repeating: 0, count: whole.count + colours.count)
            for number in whole.indices { indices[number] = UInt8(number) }
        }
        return indices.withUnsafeMutableBufferPointer { indices in
            for (at, colour) in colours.enumerated() {
                let number = smallTable.number(of: colour.stepped(steps))
                if number >= Self.maximumColours { return nil }
                indices[whole.count &+ at] = UInt8(truncatingIfNeeded: number)
            }
            return smallTable.count
        }
    }
}

extension PixelColour {
    /// Quantises each channel to a number of steps (at most 255), rounded, one byte each.
    @inline(__always)
    fileprivate func stepped(_ steps: UInt64) -> UInt32 {
        let wide = UInt64(bits) & 0xFF_00FF | (UInt64(bits) & 0xFF00_FF00) &<< 24
        let stepped = ((wide &* steps &+ 0x0080_0080_0080_0080) &>> 8) & 0x00FF_00FF_00FF_00FF
        return UInt32(truncatingIfNeeded: stepped | stepped &>> 24)
    }

    /// The colour in the middle of a step.
    fileprivate init(stepped key: UInt32, _ steps: UInt64) {
        let channels = SIMD4<UInt32>(truncatingIfNeeded: PixelColour(bits: key).channels)
        let steps = UInt32(truncatingIfNeeded: steps)
        self.init(channels: SIMD4(truncatingIfNeeded: (channels &* 255 &+ steps / 2) / steps))
    }

    /// Red, green, blue and alpha.
    fileprivate var channels: SIMD4<UInt8> {
        SIMD4(
            UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8),
            UInt8(truncatingIfNeeded: bits >> 16),
            UInt8(truncatingIfNeeded: bits >> 24))
    }

    fileprivate init(channels: SIMD4<UInt8>) {
        self.init(
            bits: UInt32(channels.x) | UInt32(channels.y) << 8 | UInt32(channels.z) << 16 | UInt32(channels.w) << 24)
    }

    var straight: StraightColour {
        let channels = self.channels
        let alpha = UInt32(channels.w)
        guard alpha > 0 else { return .clear }
        func channel(_ value: UInt8) -> UInt8 { UInt8(min((UInt32(value) * 255 + alpha / 2) / alpha, 255)) }
        return StraightColour(
            red: channel(channels.x), green: channel(channels.y), blue: channel(channels.z), alpha: channels.w)
    }
}

/// A hash table that numbers distinct keys in the order of their first occurrence.
private final class ColourTable {
    /// The number of the key in each slot, found by its hash. An empty slot is 0, so the first key is found in any of
    /// them.
    private let slots: UnsafeMutablePointer<UInt16>
    private let slotCount: Int
    private let shift: UInt32
    /// The keys by number.
    let keys: UnsafeMutablePointer<UInt32>
    private(set) var count = 0

    /// Makes a table for at most 2^bits / 2 keys.
    init(bits: UInt32) {
        slotCount = 1 << bits
        shift = 32 - bits
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: 0, count: slotCount)
        keys = .allocate(capacity: slotCount)
        keys.initialize(repeating: 0, count: slotCount)
    }

    deinit {
        slots.deallocate()
        keys.deallocate()
    }

    func removeAll() {
        slots.update(repeating: 0, count: slotCount)
        count = 0
    }

    /// Adds a key that isn't in the table yet. One key must be added before the first lookup.
    func add(_ key: UInt32, number: Int) {
        precondition(number == count)
        if count == 0 {
            keys[0] = key
            count = 1
        } else {
            precondition(self.number(of: key) == number)
        }
    }

    /// The number of a key; a new key gets the next number.
    @inline(__always)
    func number(of key: UInt32) -> Int {
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B1) &>> shift)
        while true {
            let found = Int(slots[slot])
            if keys[found] == key { return found }
            if found == 0 {
                slots[slot] = UInt16(truncatingIfNeeded: count)
                keys[count] = key
                count &+= 1
                return count &- 1
            }
            slot = (slot &+ 1) & (slotCount &- 1)
        }
    }
}
