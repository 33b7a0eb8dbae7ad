package import BillowExchange
import BillowFields
import Datasets
package import Geometry
import Turbulence

extension Feature {
    /// The value of a field at a place and level. It lacks `edr` and the severity where the field has no value, and
    /// `altitude` where the value is of the whole column of air.
    package init(_ value: FieldLevelValue, at place: LonLat) {
        let feet: Int? = if case .feet(let feet) = value.level { Int(feet) } else { nil }
        let sample = FieldSampleFeature(
            identity: value.identity, source: value.source, feet: feet, tenThousandths: value.tenThousandths,
            severity: value.severity)
        self.init(
            id: feet.map(String.init) ?? "column", geometry: .point(place),
            properties: Schema.fieldSamples.values(of: sample))
    }
}
