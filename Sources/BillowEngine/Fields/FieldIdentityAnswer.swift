package import BillowFields
import Turbulence

/// Which field it is, as clients get it.
package struct FieldIdentityAnswer: Encodable, Sendable {
    package var product: String
    var run: String
    /// Seconds.
    var lead: Int
    package var validTime: String
    var source: String
    /// Feet of the levels that were looked at; absent of the whole column.
    var levels: [Int]

    package init(_ frame: FieldFrame, _ levels: [FieldLevelRecord]) {
        product = frame.identity.product.name
        run = frame.identity.run.description
        lead = frame.identity.lead
        validTime = frame.identity.validTime.description
        source = frame.source.name
        self.levels = levels.compactMap { if case .feet(let feet) = $0.level { Int(feet) } else { nil } }
    }
}
