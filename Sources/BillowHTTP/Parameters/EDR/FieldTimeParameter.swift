package import BillowEngine
package import BillowSnapshot
package import Datasets
package import Turbulence

/// The instant of a turbulence field: `time`, or `datetime` without an interval.
package struct FieldTimeParameter: Sendable {
    private let time: RequestedTime

    package static let names: Set<String> = ["datetime", "time"]

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        switch try reader.datetime() {
        case nil: time = try reader.time()
        case .instant(let instant):
            time = RequestedTime(.instant(instant), parameter: "datetime", text: reader.text("datetime") ?? "")
        case .interval: throw reader.invalid("datetime", reader.text("datetime") ?? "", "an instant")
        }
    }

    /// - Throws: `EngineError` if the collection has no data at the time.
    package func instant(_ frames: FrameSource, _ collection: Dataset, in snapshot: Snapshot) throws(EngineError)
        -> Instant
    {
        try frames.instant(time, in: snapshot, within: snapshot.reach(of: collection))
    }
}
