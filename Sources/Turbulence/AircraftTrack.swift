package import Geometry

/// The way that an aircraft took: lines of places with their times. It is cut where the antimeridian is crossed (a
/// vertex on each side of it has the time between) and where nothing was received for long, because what lies between
/// is not known.
package struct AircraftTrack: Sendable, Hashable {
    package struct Vertex: Sendable, Hashable {
        package var place: LonLat
        package var time: Instant

        package init(place: LonLat, time: Instant) {
            self.place = place
            self.time = time
        }
    }

    /// The newest of its positions.
    package let newest: AircraftPosition
    /// Each of at least two vertices, the oldest first; at least one.
    package let lines: [[Vertex]]

    /// Longer without a position, and the line is cut. The rarest useful polling is one in 15 minutes.
    package static let gapSeconds = 1_800

    /// - Parameter positions: of one aircraft, the oldest first; where several have the same second the first counts.
    /// - Returns: nil where no two of them make a line.
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

    /// Where the shorter way from one to the other crosses the antimeridian, on its two sides; nil where it doesn't.
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
