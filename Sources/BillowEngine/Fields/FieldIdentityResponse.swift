package import BillowFields
import Turbulence

/// The identity of a field in a response.
package struct FieldIdentityResponse: Encodable, Sendable {
    package var product: String
    var run: String
    /// The lead time in seconds.
    var lead: Int
    package var validTime: String
    var source: String
    /// The levels that were read, in feet; absent for the whole column.
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
