import Geometry
import TestSupport
import Testing

@testable import BillowRaster
@testable import BillowTiles

@Suite("Labels that never overlap")
struct LabelFieldTests {
    /// An item of a layer: its anchors and its label.
    private struct Item {
        var anchors: [Point]
        var label: Label
    }

    private static func number(_ range: ClosedRange<Double>, _ random: inout SeededGenerator) -> Double {
        range.lowerBound + Double(random.next() >> 11) / Double(1 << 53) * (range.upperBound - range.lowerBound)
    }

    /// Symbols in the rectangles that have the labels of `layers`.
    private static func symbols(on world: WorldMap, _ random: inout SeededGenerator) -> [SymbolGrid.PlacedSymbol] {
        (0..<150).map { index in
            let middle = index % 3 == 0 ? 0 : index % 3 == 1 ? world.pixels : world.pixels / 2
            let x = middle + number(-900...900, &random)
            return SymbolGrid.PlacedSymbol(
                index: index,
                point: Point(x: min(max(x, 0), world.pixels), y: world.rows / 2 + number(-300...300, &random)))
        }
    }

    /// Items of three layers, crowded around the antimeridian and in the middle of a map.
    private static func layers(on world: WorldMap, _ random: inout SeededGenerator) -> [[Item]] {
        func number(_ range: ClosedRange<Double>) -> Double { Self.number(range, &random) }
        return [40, 0, 120].map { count in
            (0..<count).map { index in
                let middle = index % 3 == 0 ? 0 : index % 3 == 1 ? world.pixels : world.pixels / 2
                let anchors = (0..<1 + index % 2).map { _ in
                    Point(
                        x: min(max(middle + number(-900...900), 0), world.pixels),
                        y: world.rows / 2 + number(-300...300))
                }
                let spots = anchors.flatMap { anchor in
                    [LabelMark.Alignment.start, .middle, .end].map {
                        Label.Spot(place: Point(x: anchor.x + number(-9...9), y: anchor.y), alignment: $0)
                    }
                }
                let text = String(repeating: "8", count: 2 + Int(number(0...18)))
                return Item(anchors: anchors, label: Label("\(index) \(text)", size: 10, ink: .ink, spots: spots))
            }
        }
    }

    /// The labels of a region by the definition: over the whole map, in the order of rank, each label takes its first
    /// spot that no label before it has. Spots that cover a symbol come last.
    private static func expected(
        _ layers: [[Item]], off symbols: [SymbolGrid.PlacedSymbol], side: Double, in region: MapRegion
    ) -> Set<LabelMark> {
        let half = side / 2 * Double(region.scale)
        let obstacles = symbols.map(\.point).map {
            PixelBox(minX: $0.x - half, minY: $0.y - half, maxX: $0.x + half, maxY: $0.y + half)
        }
        var taken: [PixelBox] = []
        var marks: Set<LabelMark> = []
        for item in layers.joined() {
            let boxes = item.label.boxes(scale: Double(region.scale))
            func isFree(_ index: Int, of others: [PixelBox]) -> Bool {
                !others.contains { $0.overlaps(boxes[index], world: region.worldPixels) }
            }
            let free =
                boxes.indices.first { isFree($0, of: taken) && isFree($0, of: obstacles) }
                ?? boxes.indices.first { isFree($0, of: taken) }
            guard let free else { continue }
            let (box, spot) = (boxes[free], item.label.spots[free])
            taken.append(box)
            guard box.maxY >= Double(region.originY), box.minY <= Double(region.originY + region.height) else {
                continue
            }
            for copy in region.copies(from: box.minX, to: box.maxX, margin: 0) {
                marks.insert(
                    LabelMark(
                        text: item.label.text, place: PicturePosition(region.local(spot.place, copy: copy)),
                        alignment: spot.alignment, size: item.label.size, ink: .ink))
            }
        }
        return marks
    }

    @Test(
        "any region has the labels that placing all of the world one by one gives",
        arguments: [(0, 1), (2, 1), (3, 2), (4, 1), (6, 1), (8, 3)], [0.0, 20])
    func oracle(_ map: (zoom: Int, scale: Int), side: Double) throws {
        let (zoom, scale) = map
        var random = SeededGenerator(seed: UInt64(zoom * 10 + scale))
        let middle = try #require(LonLat(longitude: 0, latitude: 0))
        let whole = try #require(MapRegion(center: middle, zoom: zoom, width: 64, height: 64, scale: scale))
        let layers = Self.layers(on: whole.world, &random)
        let sources = layers.map { items in
            LabelSource(
                anchors: LabelAnchors(
                    count: items.count,
                    items.enumerated().flatMap { item in
                        item.element.anchors.map { LabelAnchors.Anchor(item: item.offset, place: $0) }
                    }, on: whole.world)
            ) { items[$0].label }
        }
        let symbols = side == 0 ? [] : Self.symbols(on: whole.world, &random)
        let obstacles = LabelObstacles(symbols, side: side, on: whole.world)
        var (seen, moved) = (0, 0)
        for longitude in [-180.0, -179.9, 0, 3, 120, 179.95] {
            for (width, height) in [(256, 256), (1_000, 90), (60, 700), (2_500, 2_500)] {
                let center = try #require(LonLat(longitude: longitude, latitude: 0.5))
                let region = try #require(
                    MapRegion(center: center, zoom: zoom, width: width, height: height, scale: scale))
                let marks = LabelField(sources, in: region, obstacles: obstacles).marks()
                let expected = Self.expected(layers, off: symbols, side: side, in: region)
                #expect(Set(marks) == expected, "\(longitude) \(width) × \(height)")
                moved += expected.symmetricDifference(Self.expected(layers, off: [], side: 0, in: region)).count
                #expect(Set(marks).count == marks.count)
                seen += marks.count
            }
        }
        #expect(seen > 50)
        #expect(symbols.isEmpty == (moved == 0))
    }
}
