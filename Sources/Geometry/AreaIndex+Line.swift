extension AreaIndex {
    /// The line of a route, as an area without width: cells and areas that share a point with the line intersect it,
    /// and no place lies in it.
    package init?(alongLineOf route: Route) {
        self.init(MultiPolygon(polygons: route.lines.map { [$0 + $0.dropLast().reversed()] }))
    }
}

extension Route {
    /// The distance in metres between the points of `lines`. Between them, a straight line in degrees is within some
    /// metres of the geodesic, except next to a pole.
    private static let lineStep = 10_000.0

    /// The route as lines that are straight in degrees, cut at the antimeridian.
    ///
    /// Source: RFC 7946 section 3.1.9
    fileprivate var lines: [[LonLat]] {
        var lines: [[LonLat]] = []
        var line: [LonLat] = []
        for station in stations(every: Self.lineStep) {
            if let last = line.last, abs(station.place.longitude - last.longitude) > 180 {
                let side: Double = last.longitude > 0 ? 180 : -180
                let whole = station.place.longitude + 2 * side - last.longitude
                let share = whole == 0 ? 0 : (side - last.longitude) / whole
                let latitude = last.latitude + (station.place.latitude - last.latitude) * share
                line.append(LonLat(uncheckedLongitude: side, latitude: latitude))
                lines.append(line)
                line = [LonLat(uncheckedLongitude: -side, latitude: latitude)]
            }
            line.append(station.place)
        }
        lines.append(line)
        return lines.filter { $0.count > 1 }
    }
}
