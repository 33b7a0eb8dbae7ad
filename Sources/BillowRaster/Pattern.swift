import Synchronization

/// A periodic fill: the share of each pixel that is inked. Its position depends on the world's pixels, so it continues
/// from tile to tile.
public struct Pattern: Sendable, Hashable {
    /// The shapes of a pattern.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Lines that rise to the right: ⟋.
        case hatch
        /// Lines that fall to the right: ⟍.
        case backHatch = "back-hatch"
        /// Lines that rise and lines that fall.
        case crossHatch = "cross-hatch"
        /// Lines from left to right.
        case horizontal
        /// Lines from top to bottom.
        case vertical
        /// Dots in rows.
        case dots
    }

    /// The period in pixels, across and down.
    package let period: Int
    /// 0…255 for each pixel of one period, row-major.
    let coverage: [UInt8]

    private struct Key: Hashable {
        var kind: Kind
        var period: Int
        var width: Double
    }

    /// A cache of computed patterns. There are few, and every mark of a picture uses one.
    private static let known = Mutex<[Key: [UInt8]]>([:])
    private static let maximumCachedPatterns = 64

    /// - Parameters:
    ///   - period: pixels, 2…256; a tile's width must be a multiple of it.
    ///   - width: the width of lines, or the diameter of dots, in pixels.
    ///   - kind: lines or dots.
    package init(_ kind: Kind, period: Int, width: Double) {
        let period = min(max(period, 2), 256)
        self.period = period
        let key = Key(kind: kind, period: period, width: width)
        if let coverage = Pattern.known.withLock({ $0[key] }) {
            self.coverage = coverage
            return
        }
        let coverage = Pattern.coverage(kind, period, width)
        self.coverage = coverage
        Pattern.known.withLock { known in
            if known.count >= Pattern.maximumCachedPatterns { known = [:] }
            known[key] = coverage
        }
    }

    /// Each pixel is the mean of 8 × 8 samples.
    private static func coverage(_ kind: Kind, _ period: Int, _ width: Double) -> [UInt8] {
        let steps = 8
        var coverage: [UInt8] = []
        coverage.reserveCapacity(period * period)
        for row in 0..<period {
            for column in 0..<period {
                var inside = 0
                for i in 0..<steps * steps {
                    let x = Double(column) + (Double(i % steps) + 0.5) / Double(steps)
                    let y = Double(row) + (Double(i / steps) + 0.5) / Double(steps)
                    if Pattern.covers(kind, x, y, Double(period), width) { inside += 1 }
                }
                coverage.append(UInt8(inside * 255 / (steps * steps)))
            }
        }
        return coverage
    }

    /// The share of the pixel in column x and row y of the world that is inked.
    @inline(__always)
    package func coverage(x: Int, y: Int) -> UInt8 {
        let column = x % period
        let row = y % period
        return coverage[(row < 0 ? row + period : row) * period + (column < 0 ? column + period : column)]
    }

    private static func covers(_ kind: Kind, _ x: Double, _ y: Double, _ period: Double, _ width: Double) -> Bool {
        /// Whether a position lies on one of the lines, which are `period` apart.
        func onLine(_ way: Double, _ width: Double) -> Bool {
            let rest = way.truncatingRemainder(dividingBy: period)
            return abs((rest < 0 ? rest + period : rest) - period / 2) * 2 < width
        }
        // The distance of lines at 45° along an axis is √2 times their perpendicular distance.
        let slanted = width * 2.0.squareRoot()
        switch kind {
        case .hatch: return onLine(x + y, slanted)
        case .backHatch: return onLine(x - y, slanted)
        case .crossHatch: return onLine(x + y, slanted) || onLine(x - y, slanted)
        case .horizontal: return onLine(y, width)
        case .vertical: return onLine(x, width)
        case .dots:
            let (dx, dy) = (x - period / 2, y - period / 2)
            return (dx * dx + dy * dy) * 4 < width * width
        }
    }
}

/// A pattern at the position of a canvas in the world.
package struct PlacedPattern: Sendable {
    package let pattern: Pattern
    /// The world's pixel at the canvas's north-west corner; only its remainder modulo the period matters.
    package let originX: Int
    package let originY: Int

    package init(_ pattern: Pattern, originX: Int, originY: Int) {
        self.pattern = pattern
        self.originX = originX
        self.originY = originY
    }

    @inline(__always)
    package func coverage(x: Int, y: Int) -> UInt8 { pattern.coverage(x: originX + x, y: originY + y) }
    /// Calls `body` with the shares of one period of a canvas's row, and the index of the share of column x.
    @inline(__always)
    func withRow(x: Int, y: Int, _ body: (UnsafeBufferPointer<UInt8>, Int) -> Void) {
        let period = pattern.period
        let (column, row) = ((originX + x) % period, (originY + y) % period)
        let start = (row < 0 ? row + period : row) * period
        pattern.coverage.withUnsafeBufferPointer { coverage in
            body(
                UnsafeBufferPointer(rebasing: coverage[start..<start + period]), column < 0 ? column + period : column)
        }
    }
}
