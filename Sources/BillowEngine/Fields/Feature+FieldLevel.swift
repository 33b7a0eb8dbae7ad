package import BillowExchange
import BillowFields

package import Geometry
import Datasets
import Turbulence

extension Feature {
    /// The value of a field at a place and level. `edr` and the severity are absent where there is no value, `altitude`
    /// of the column of air.
    package init(_ value: FieldLevelValue, at place: LonLat) {
        var properties: [(name: StaticString, value: PropertyValue)] = []
        if case .feet(let feet) = value.level { properties.append(("altitude", .integer(Int(feet)))) }
        if let edr = value.tenThousandths { properties.append(("edr", .decimal(Double(edr) / 10_000, decimals: 4))) }
        if let severity = value.severity {
            properties.append(("severity", .integer(Int(severity.rawValue))))
            properties.append(("severityName", .text(severity.name)))
        }
        properties += [
            ("product", .text(value.identity.product.name)), ("run", .instant(value.identity.run)),
            ("lead", .integer(value.identity.lead)), ("validTime", .instant(value.identity.validTime)),
            ("source", .text(value.source.name)),
        ]
        let level = if case .feet(let feet) = value.level { "\(feet)" } else { "column" }
        self.init(id: level, geometry: .point(place), properties: properties)
    }
}
