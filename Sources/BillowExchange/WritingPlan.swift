import Datasets
import Turbulence

/// A schema made ready to be written: each name as its bytes, beside the way to its value. From a record to the bytes
/// of a property there is one call of a function with the value's own type, and nothing is allocated.
struct WritingPlan<Record>: Sendable {
    /// A property.
    struct Step: Sendable {
        /// As it stands in JSON.
        let name: [UInt8]
        let reading: Schema<Record>.Reading
        /// Of a decimal number.
        let decimals: Int
    }

    /// In the order of the schema.
    let steps: [Step]

    init(_ schema: Schema<Record>) {
        steps = schema.fields.map { field in
            Step(
                name: JSONWriter.encoded(field.property.name), reading: field.reading, decimals: field.property.decimals
            )
        }
    }
}

extension WritingPlan where Record == ObservationFeature {
    static let observations = WritingPlan(.observations)
    static let hexagons = WritingPlan(.hexagons)
}

extension WritingPlan where Record == PilotReport {
    static let reports = WritingPlan(.pireps)
}

extension WritingPlan where Record == AircraftPosition {
    static let traffic = WritingPlan(.traffic)
}

extension JSONWriter {
    /// Writes what a step finds in a record as a member; nothing where the record doesn't have it.
    mutating func member<Record>(_ step: WritingPlan<Record>.Step, _ record: borrowing Record) {
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
