import Geometry
import Turbulence

/// The rows of one hour or part of the archive, in columns, sorted by place and time. It takes 28 bytes per row.
struct Segment: Sendable {
    /// The places, with 64 bits per row; see `RowKey`.
    private(set) var places: [UInt64]
    /// The times of observation in Unix seconds.
    private(set) var observedAt: [UInt32]
    /// The time from which a newer observation of the same place supersedes the row; `UInt32.max` if none does.
    private(set) var replacedAt: [UInt32]
    /// The severities: 0–4, or `none`.
    private(set) var severities: [UInt8]
    /// The EDRs in ten-thousandths, or `noEDR`.
    private(set) var edrs: [UInt16]
    private(set) var kinds: [UInt8]
    private(set) var keys: [Int64]
    /// The index of the first row of each chunk of 343 cells, and at the end the number of rows.
    private(set) var chunkStarts: [UInt32]

    static let none: UInt8 = 255
    static let noEDR: UInt16 = .max
    static let chunks = Cell.slots / CellTable.chunkSize

    var count: Int { places.count }

    /// The bytes of the rows and of the index of their chunks.
    var byteCount: Int {
        let row = 2 * MemoryLayout<Int64>.size + 2 * MemoryLayout<UInt32>.size + MemoryLayout<UInt16>.size + 2
        return count * row + chunkStarts.count * MemoryLayout<UInt32>.size
    }

    init() {
        places = []
        observedAt = []
        replacedAt = []
        severities = []
        edrs = []
        kinds = []
        keys = []
        chunkStarts = [UInt32](repeating: 0, count: Segment.chunks + 1)
    }

    /// Makes a segment of rows of one hour or part, without links (`replacedAt`).
    /// - Complexity: O(n log n)
    init(_ rows: [ObservationRow]) {
        self.init()
        reserve(rows.count)
        for (place, index) in RowKey.order(of: rows) { append(rows[index], place: place) }
        indexChunks()
    }

    /// This segment without the rows of `removed` and with those of `other`, all of the same hour.
    /// - Complexity: O(n + m)
    func merging(_ other: Segment, removing removed: Set<Int64> = []) -> Segment {
        if count == 0 { return other }
        if other.count == 0, removed.isEmpty { return self }
        var merged = Segment()
        merged.reserve(count + other.count)
        var next = 0
        for index in places.indices {
            while next < other.count, (other.places[next], other.keys[next]) < (places[index], keys[index]) {
                merged.append(copying: next, of: other)
                next += 1
            }
            if !removed.isEmpty, removed.contains(keys[index]) { continue }
            merged.append(copying: index, of: self)
        }
        while next < other.count {
            merged.append(copying: next, of: other)
            next += 1
        }
        merged.indexChunks()
        return merged
    }

    mutating func reserve(_ capacity: Int) {
        places.reserveCapacity(capacity)
        observedAt.reserveCapacity(capacity)
        replacedAt.reserveCapacity(capacity)
        severities.reserveCapacity(capacity)
        edrs.reserveCapacity(capacity)
        kinds.reserveCapacity(capacity)
        keys.reserveCapacity(capacity)
    }

    private mutating func append(_ row: ObservationRow, place: UInt64) {
        append(
            place: place, observedAt: UInt32(row.observedAt.seconds),
            severity: row.intensity.severity?.rawValue ?? Segment.none,
            edr: row.intensity.edr?.tenThousandths ?? Segment.noEDR, kind: row.kind.rawValue, key: row.key.rawValue)
    }

    /// Appends a row without a link, which must be after all others in the order of (place, key).
    mutating func append(place: UInt64, observedAt: UInt32, severity: UInt8, edr: UInt16, kind: UInt8, key: Int64) {
        places.append(place)
        self.observedAt.append(observedAt)
        replacedAt.append(.max)
        severities.append(severity)
        edrs.append(edr)
        kinds.append(kind)
        keys.append(key)
    }

    private mutating func append(copying index: Int, of other: Segment) {
        places.append(other.places[index])
        observedAt.append(other.observedAt[index])
        replacedAt.append(other.replacedAt[index])
        severities.append(other.severities[index])
        edrs.append(other.edrs[index])
        kinds.append(other.kinds[index])
        keys.append(other.keys[index])
    }

    /// Indexes the chunks; must be called after the last row is appended.
    mutating func indexChunks() {
        var chunk = 0
        for (index, place) in places.enumerated() {
            let own = RowKey(bits: place).dense / CellTable.chunkSize
            while chunk <= own {
                chunkStarts[chunk] = UInt32(index)
                chunk += 1
            }
        }
        while chunk <= Segment.chunks {
            chunkStarts[chunk] = UInt32(count)
            chunk += 1
        }
    }

    /// The rows of a chunk.
    func rows(inChunk chunk: Int) -> Range<Int> { Int(chunkStarts[chunk])..<Int(chunkStarts[chunk + 1]) }

    /// The selected keys of the rows of an area, in the order of their places.
    func keys(in area: CellArea, where isSelected: (Int64) -> Bool) -> [Int64] {
        var found: [Int64] = []
        for chunk in 0..<Segment.chunks {
            let rows = rows(inChunk: chunk)
            guard !rows.isEmpty, area.mayHold(chunk: chunk) else { continue }
            // Rows of one cell follow each other.
            var (cell, isInside) = (-1, false)
            for row in rows where isSelected(keys[row]) {
                let own = RowKey(bits: places[row]).dense
                if own != cell { (cell, isInside) = (own, Cell(dense: own).map(area.contains) ?? false) }
                if isInside { found.append(keys[row]) }
            }
        }
        return found
    }

    /// The rows of one place, in time order.
    func rows(at place: UInt64) -> Range<Int> {
        var low = Int(chunkStarts[RowKey(bits: place).dense / CellTable.chunkSize])
        var high = Int(chunkStarts[RowKey(bits: place).dense / CellTable.chunkSize + 1])
        let end = high
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < place { low = middle + 1 } else { high = middle }
        }
        var after = low
        while after < end, places[after] == place { after += 1 }
        return low..<after
    }

    mutating func setReplacedAt(_ value: UInt32, row: Int) { replacedAt[row] = value }

    /// Sets the links of all rows, one value per row.
    mutating func setReplacedAt(_ values: [UInt32]) { replacedAt = values }

    /// The row as an `ObservationRow`, without its versions, which a segment doesn't store.
    func row(_ index: Int) -> ObservationRow? {
        let place = RowKey(bits: places[index])
        let severity = Severity(rawValue: severities[index])
        let edr = edrs[index] == Segment.noEDR ? nil : EDR(tenThousandths: Int(edrs[index]))
        guard let intensity = Intensity(severity: severity, edr: edr), let altitude = place.altitude,
            let kind = ObservationKind(rawValue: kinds[index])
        else { return nil }
        return ObservationRow(
            key: ObservationKey(rawValue: keys[index]), cell: Cell(uncheckedDense: UInt32(place.dense)),
            altitude: altitude, intensity: intensity, observedAt: Instant(clamping: Int(observedAt[index])),
            category: place.category, source: place.source, kind: kind, since: .zero)
    }
}

/// The cell, altitude, category and source of a row, in 45 bits. A newer computed observation supersedes an older one
/// only if these are equal. The order is first by cells.
struct RowKey: Hashable {
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    init(of row: ObservationRow) {
        let category = UInt64(row.category.map { $0.number / 10 } ?? 0)
        bits =
            UInt64(row.cell.dense) << RowKey.kindBits | UInt64(row.source.rawValue) << 16 | category << 12
            | UInt64(row.altitude.lowest.thousands) << 6 | UInt64(row.altitude.highest.thousands)
    }

    /// The order of an hour's rows by place and key. It sorts small items, and uses radix sort for many rows.
    fileprivate static func order(of rows: [ObservationRow]) -> [(place: UInt64, index: Int)] {
        var order = rows.indices.map { (place: RowKey(of: rows[$0]).bits, index: $0) }
        // The order in which the store returns them.
        let isByKey = zip(rows, rows.dropFirst()).allSatisfy { $0.key < $1.key }
        guard isByKey, rows.count > 1 << digitBits else {
            order.sort { ($0.place, rows[$0.index].key.rawValue) < ($1.place, rows[$1.index].key.rawValue) }
            return order
        }
        // Each pass is stable, so the keys stay sorted within each place.
        var sorted = order
        for shift in stride(from: 0, to: RowKey.bitWidth, by: digitBits) {
            let digit = { (place: UInt64) in Int(place >> UInt64(shift)) & (1 << digitBits - 1) }
            var next = [Int](repeating: 0, count: 1 << digitBits + 1)
            for entry in order { next[digit(entry.place) + 1] += 1 }
            for value in 1..<next.count { next[value] += next[value - 1] }
            for entry in order {
                let value = digit(entry.place)
                sorted[next[value]] = entry
                next[value] += 1
            }
            swap(&order, &sorted)
        }
        return order
    }

    private static let bitWidth = 45
    /// The bits of everything except the cell.
    static let kindBits: UInt64 = 24
    static let kindMask: UInt32 = 1 << 24 - 1
    private static let digitBits = 12

    @inline(__always) var dense: Int { Int(bits >> RowKey.kindBits) }
    @inline(__always) var source: SourceNumber { SourceNumber(rawValue: UInt8(truncatingIfNeeded: bits >> 16)) }
    /// 0 if no category was given, otherwise a tenth of its number.
    @inline(__always) var categoryCode: UInt8 { UInt8(bits >> 12 & 0xF) }
    @inline(__always) var lowest: UInt8 { UInt8(bits >> 6 & 0x3F) }
    @inline(__always) var highest: UInt8 { UInt8(bits & 0x3F) }

    var category: AircraftCategory? { AircraftCategory(number: Int(categoryCode) * 10) }
    var altitude: AltitudeBand? {
        guard let low = AltitudeBlock(thousands: Int(lowest)), let high = AltitudeBlock(thousands: Int(highest)) else {
            return nil
        }
        return AltitudeBand(lowest: low, highest: high)
    }
}
