package import BillowEngine
package import BillowSnapshot
package import Datasets
package import Turbulence

/// The instant of a turbulence field: `time`, or `datetime` without an interval.
package struct FieldTimeParameter: Sendable {
    private let time: RequestedTime
    /// Whether a time after the last data means the present: the end of an interval, which may be open.
    private let isEnd: Bool

    package static let names: Set<String> = ["datetime", "time"]

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        let datetime = try reader.datetime()
        isEnd = if case .interval = datetime { true } else { false }
        switch datetime {
        case nil: time = try reader.time()
        case .instant(let instant):
            time = RequestedTime(.instant(instant), parameter: "datetime", text: reader.text("datetime") ?? "")
        case .interval(_, let end):
            // A place has the value at the end, as a picture of the interval does.
            time = RequestedTime(
                end.map { .instant($0) } ?? .latest, parameter: "datetime", text: reader.text("datetime") ?? "")
        }
    }

    /// - Throws: `EngineError` if the collection has no data at the time.
    package func instant(_ frames: FrameSource, _ collection: Dataset, in snapshot: Snapshot) throws(EngineError)
        -> Instant
    {
        let reach = snapshot.reach(of: collection)
        if isEnd, case .instant(let end) = time.moment, end > reach.upperBound {
            return try frames.instant(.latest, in: snapshot, within: reach)
        }
        return try frames.instant(time, in: snapshot, within: reach)
    }
}
