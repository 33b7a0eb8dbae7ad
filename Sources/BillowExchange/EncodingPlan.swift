import Datasets
import Turbulence

/// A schema prepared for encoding: each name as bytes, and the accessor of its value. Encoding a property takes one
/// call of a typed function, without allocations.
struct EncodingPlan<Record>: Sendable {
    /// A property. It is a class, because a writer would retain the name and the function of a structure for each
    /// value.
    final class Step: Sendable {
        let property: StaticString
        /// The encoded name for JSON.
        let name: [UInt8]
        let reading: Schema<Record>.Reading
        /// The decimals of a decimal number.
        let decimals: Int

        init(_ field: Schema<Record>.Field) {
            property = field.property.name
            name = JSONWriter.encoded(field.property.name)
            reading = field.reading
            decimals = field.property.decimals
        }
    }

    /// The properties, in the order of the schema.
    let steps: [Step]

    init(_ schema: Schema<Record>) {
        steps = schema.fields.map { Step($0) }
    }

    private init(steps: [Step]) { self.steps = steps }

    /// Returns a plan with only some properties; nil keeps all.
    func selecting(_ properties: Set<String>?) -> EncodingPlan {
        guard let properties else { return self }
        return EncodingPlan(steps: steps.filter { properties.contains("\($0.property)") })
    }
}

extension EncodingPlan where Record == ObservationFeature {
    static let observations = EncodingPlan(.observations)
    static let hexagons = EncodingPlan(.hexagons)
}

extension EncodingPlan where Record == PilotReport {
    static let reports = EncodingPlan(.pireps)
}

extension EncodingPlan where Record == AircraftPosition {
    static let traffic = EncodingPlan(.traffic)
}

extension JSONWriter {
    /// Writes a property of a record as a member; nothing if the record lacks it.
    mutating func member<Record>(_ step: EncodingPlan<Record>.Step, _ record: borrowing Record) {
        switch step.reading {
        case .text(let read):
            guard let text = read(record) else { return }
            name(encoded: step.name)
            value(text)
        case .integer(let read):
            guard let number = read(record) else { return }
            name(encoded: step.name)
            value(Int64(number))
        case .decimal(let read):
            guard let number = read(record) else { return }
            name(encoded: step.name)
            value(number, decimals: step.decimals)
        case .flag(let read):
            guard let flag = read(record) else { return }
            name(encoded: step.name)
            value(flag)
        case .instant(let read):
            guard let instant = read(record) else { return }
            name(encoded: step.name)
            value(instant)
        case .instants(let read):
            guard let instants = read(record) else { return }
            name(encoded: step.name)
            value(PropertyValue.instants(instants))
        case .groups(let read):
            guard let groups = read(record) else { return }
            name(encoded: step.name)
            value(PropertyValue.groups(groups))
        }
    }
}
