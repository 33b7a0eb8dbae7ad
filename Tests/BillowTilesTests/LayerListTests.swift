import Datasets
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("Lists of layers")
struct LayerListTests {
    @Test("ids by comma, the first lowest", arguments: ["hexagons", "hazards,turbulence,traffic"])
    func reads(text: String) throws { #expect(try LayerList(text).description == text) }

    @Test("every layer at once is a list")
    func whole() throws {
        #expect(try LayerList(Catalogue.layers.map(\.id).joined(separator: ",")).layers == Catalogue.layers)
    }

    @Test("a repeat can't be used")
    func repeated() {
        #expect(throws: LayerList.Failure.self) { try LayerList("hexagons,traffic,hexagons") }
    }

    @Test(
        "an invalid layer name is unknown",
        arguments: ["", "Hexagons", "hexagons,", ",hexagons", "hexagons traffic", "x"])
    func unknown(text: String) {
        let error = #expect(throws: LayerList.Failure.self) { try LayerList(text) }
        if case .unusable? = error { Issue.record("\(text) should be unknown") }
    }

    @Test("a hundred names are too many, whatever they are")
    func tooMany() {
        #expect(throws: LayerList.Failure.self) {
            try LayerList([String](repeating: "hexagons", count: 100).joined(separator: ","))
        }
    }
}
