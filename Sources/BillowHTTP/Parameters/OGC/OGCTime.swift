package import BillowEngine
package import BillowSnapshot
package import BillowTiles
import Turbulence

/// The time in requests of OGC interfaces: now, an instant, or an interval, whose end is shown.
package struct OGCTime: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
        case moment(RequestedTime.Moment)
        /// nil is an open end.
        case interval(Instant?, Instant?)
    }

    private let form: Form
    /// The parameter that names the time, and its value as the client sent it.
    private let parameter: String
    private let text: String

    package static let latest = OGCTime(.moment(.latest), parameter: "datetime", text: "latest")

    private init(_ form: Form, parameter: String, text: String) {
        self.form = form
        self.parameter = parameter
        self.text = text
    }

    /// The words for the latest frame.
    private static let latestWords: Set = ["", "current", "latest", "default"]

    package static let expected =
        "current, an instant (2026-11-21T02:30:00Z), or an interval a/b; the picture shows its end"

    /// Parses the `TIME` of WMS and WMTS; nil for an invalid text. The resolution of an interval is ignored.
    ///
    /// Source: OGC 06-042 (WMS 1.3.0) annex D
    package init?(_ text: String) {
        if Self.latestWords.contains(text.lowercased()) {
            self.init(.moment(.latest), parameter: "TIME", text: text)
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 1 {
            guard let seconds = Instant.unixSeconds(text, fraction: true) else { return nil }
            self.init(
                .moment(Instant(seconds: seconds).map { .instant($0) } ?? .beyond), parameter: "TIME", text: text)
            return
        }
        guard parts.count == 2 || parts.count == 3 && parts[2].hasPrefix("P") else { return nil }
        var ends: [Instant?] = []
        for part in parts.prefix(2) {
            if part.isEmpty || part == ".." {
                ends.append(nil)
                continue
            }
            guard let seconds = Instant.unixSeconds(part, fraction: true) else { return nil }
            ends.append(Instant(clamping: seconds))
        }
        if let start = ends[0], let end = ends[1], start > end { return nil }
        self.init(.interval(ends[0], ends[1]), parameter: "TIME", text: text)
    }

    /// The `datetime` of OGC APIs.
    init(_ reader: QueryReader) throws(ParameterProblem) {
        let form: Form =
            switch try reader.datetime() {
            case .instant(let instant)?: .moment(.instant(instant))
            case .interval(let start, let end)?: .interval(start, end)
            case nil: .moment(.latest)
            }
        self.init(form, parameter: "datetime", text: reader.text("datetime") ?? "latest")
    }

    /// The instant to show. An interval beyond the layers' extent shows the last frame inside it.
    package func requested(of layers: LayerList, _ frames: FrameSource, in snapshot: Snapshot) -> RequestedTime {
        func named(_ moment: RequestedTime.Moment) -> RequestedTime {
            RequestedTime(moment, parameter: parameter, text: text)
        }
        switch form {
        case .moment(let moment): return named(moment)
        case .interval(let start, let end):
            let extent = snapshot.extent(of: layers.layers)
            guard let end, end <= extent.upperBound else {
                if let start, start > extent.upperBound { return named(.instant(start)) }
                // An open end means now, not the end of a forecast.
                if end == nil, start.map({ $0 <= snapshot.publication.asOf }) ?? true { return named(.latest) }
                return named(.instant(extent.upperBound))
            }
            return named(.instant(end))
        }
    }
}
