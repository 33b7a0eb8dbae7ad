package import Geometry

/// The track of an aircraft: lines of places with their times. It is cut where it crosses the antimeridian; a vertex on
/// each side has the interpolated time. It is also cut at long gaps in reception, because the path between is unknown.
package struct AircraftTrack: Sendable, Hashable {
    package struct Vertex: Sendable, Hashable {
        package var place: LonLat
        package var time: Instant

        package init(place: LonLat, time: Instant) {
            self.place = place
            self.time = time
        }
    }

    /// The newest of the track's positions.
    package let newest: AircraftPosition
    /// The lines: at least one, each of at least two vertices, the oldest first.
    package let lines: [[Vertex]]

    /// The longest gap between positions without a cut. The longest useful polling interval is 15 minutes.
    package static let gapSeconds = 1_800

    /// - Parameter positions: of one aircraft, the oldest first. Of several with the same second, the first counts.
    /// - Returns: nil if no two of them make a line.
    package init?(_ positions: [AircraftPosition]) {
        guard let newest = positions.last else { return nil }
        self.newest = newest
        var lines: [[Vertex]] = []
        var line: [Vertex] = []
        func close() {
            if line.count > 1 { lines.append(line) }
            line = []
        }
        for position in positions {
            let vertex = Vertex(place: position.place, time: position.observedAt)
            if let last = line.last {
                let seconds = vertex.time.seconds - last.time.seconds
                guard seconds > 0 else { continue }
                if seconds > Self.gapSeconds {
                    close()
                } else if let (before, after) = Self.crossing(last, vertex) {
                    if before != last { line.append(before) }
                    close()
                    line = after == vertex ? [] : [after]
                }
            }
            line.append(vertex)
        }
        close()
        guard !lines.isEmpty else { return nil }
        self.lines = lines
    }

    /// The point where the shorter way between two vertices crosses the antimeridian, on both of its sides. nil if it
    /// doesn't cross.
    private static func crossing(_ a: Vertex, _ b: Vertex) -> (before: Vertex, after: Vertex)? {
        let step = b.place.longitude - a.place.longitude
        guard abs(step) > 180 else { return nil }
        let side = a.place.longitude > 0 ? 180.0 : -180
        let whole = step - (step / 360).rounded() * 360
        let part = whole == 0 ? 0 : min(1, max(0, (side - a.place.longitude) / whole))
        let latitude = a.place.latitude + part * (b.place.latitude - a.place.latitude)
        let time = a.time.advanced(by: Int((part * Double(b.time.seconds - a.time.seconds)).rounded()))
        guard let before = LonLat(longitude: side, latitude: latitude),
            let after = LonLat(longitude: -side, latitude: latitude)
        else { return nil }
        return (Vertex(place: before, time: time), Vertex(place: after, time: time))
    }
}
