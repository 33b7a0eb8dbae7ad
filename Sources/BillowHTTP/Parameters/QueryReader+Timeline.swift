import BillowEngine
package import BillowTimeline
package import Datasets
import Turbulence

extension QueryReader {
    /// Reads `start`, `end`, `intervals` and `anchor`.
    package func timeline(_ defaults: TimelineDefaults) throws(ParameterProblem) -> TimelineRequest {
        TimelineRequest(
            start: try timePoint("start"), end: try timePoint("end"),
            intervals: try integer("intervals", in: 1...defaults.limits.intervals), isAnchored: try boolean("anchor"))
    }

    func timePoint(_ name: String) throws(ParameterProblem) -> RequestedTimePoint? {
        guard let text = text(name) else { return nil }
        guard let point = RequestedTimePoint(text) else {
            let isBeyond = Instant.unixSeconds(text) != nil
            throw invalid(
                name, text,
                isBeyond ? "from \(Instant.distantPast) to \(Instant.distantFuture)" : TimePoint.expected)
        }
        return point
    }

    /// The frame revision in the URL; nil without a version.
    func frameRevision() throws(ParameterProblem) -> FrameRevision? {
        guard let text = text("v") else { return nil }
        guard let number = PlainInteger.parse(text) else {
            throw invalid("v", text, "a frame's version, as the timeline gives it: a whole number")
        }
        guard let named = self.text("s") else { return FrameRevision(version: Version(rawValue: Int64(number))) }
        guard let renderKey = RenderKey(named) else {
            throw invalid("s", named, "a frame's render key, as the timeline gives it: 16 hexadecimal digits")
        }
        return FrameRevision(version: Version(rawValue: Int64(number)), renderKey: renderKey)
    }
}

extension Dataset {
    /// Parses a list of layer ids.
    package static func layers(_ text: String) throws(ParameterProblem) -> [Dataset] {
        var layers: [Dataset] = []
        for id in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let layer = Catalogue.layer(id), !layers.contains(layer) else {
                throw ParameterProblem(
                    ParameterError(
                        parameter: "layers", value: text,
                        expected: "a list, each once, of \(Catalogue.layers.map(\.id).joined(separator: ", "))"))
            }
            layers.append(layer)
        }
        return layers
    }
}
