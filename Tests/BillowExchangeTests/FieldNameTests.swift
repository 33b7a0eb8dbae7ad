import Datasets
import Testing

@testable import BillowExchange

@Suite("Names that an import reads")
struct FieldNameTests {
    @Test("every property of observations, hexagons and pilot reports is read, by its aliases too")
    func properties() throws {
        for property in Schema.hexagons.properties + Schema.observations.properties + Schema.pireps.properties {
            let name = try #require(FieldName(property.name.description))
            #expect(name.name == property.name.description)
            for alias in property.aliases { #expect(FieldName(alias) == name, "\(alias)") }
        }
    }

    @Test(
        "a name is read in any spelling",
        arguments: [
            ("observed_at", "observedAt"), ("Observed At", "observedAt"), ("LAT", "latitude"), ("lng", "longitude"),
            ("altitude_ft", "altitude"), ("H3-Index", "h3"),
        ])
    func spellings(_ spelling: String, _ name: String) {
        #expect(FieldName(spelling)?.name == name)
    }

    @Test("every name has a place of its own, and what no schema has means nothing")
    func places() {
        let places = Set(
            (Schema.hexagons.properties + Schema.pireps.properties).compactMap {
                FieldName($0.name.description)?.place
            })
        #expect(places.count < FieldName.count)
        #expect(FieldName("squawk") == nil)
    }
}
