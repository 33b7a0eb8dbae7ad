/// An airport: its ICAO location indicator, its position to about 0.01 degrees, and its relative traffic.
package struct Airport: Sendable {
    package let icao: String
    package let place: LonLat
    /// The airport's relative traffic, 1…10.
    package let weight: Double
}

/// About a hundred and twenty large airports on all continents.
///
/// Source: ICAO Doc 7910 (location indicators). Positions are rounded aerodrome reference points;
/// https://ourairports.com/data/ lists them too.
package enum Airports {
    private static let table: [(String, Double, Double, Double)] = [
        // North America: longitude, latitude, weight
        ("KATL", -84.43, 33.64, 10), ("KORD", -87.90, 41.98, 9), ("KDFW", -97.04, 32.90, 9),
        ("KDEN", -104.67, 39.86, 8),
        ("KLAX", -118.41, 33.94, 9), ("KJFK", -73.78, 40.64, 8), ("KSFO", -122.38, 37.62, 7),
        ("KSEA", -122.31, 47.45, 6),
        ("KMIA", -80.29, 25.79, 6), ("KBOS", -71.01, 42.36, 5), ("KIAD", -77.46, 38.95, 4),
        ("KMSP", -93.22, 44.88, 5),
        ("KIAH", -95.34, 29.98, 6), ("KPHX", -112.01, 33.43, 5), ("KEWR", -74.17, 40.69, 5),
        ("CYYZ", -79.63, 43.68, 5),
        ("CYVR", -123.18, 49.19, 4), ("CYUL", -73.74, 45.47, 3), ("PANC", -149.99, 61.17, 2),
        ("PHNL", -157.92, 21.32, 3),
        ("MMMX", -99.07, 19.44, 5), ("MPTO", -79.38, 9.07, 2),
        // South America
        ("SBGR", -46.47, -23.43, 5), ("SAEZ", -58.54, -34.82, 3), ("SCEL", -70.79, -33.39, 3),
        ("SPJC", -77.11, -12.02, 3),
        ("SKBO", -74.15, 4.70, 4),
        // Europe
        ("EGLL", -0.45, 51.47, 9), ("LFPG", 2.55, 49.01, 8), ("EDDF", 8.57, 50.03, 8),
        ("EHAM", 4.76, 52.31, 8),
        ("LEMD", -3.57, 40.47, 7), ("LEBL", 2.08, 41.30, 5), ("LIRF", 12.25, 41.80, 5),
        ("EDDM", 11.79, 48.35, 5),
        ("LSZH", 8.55, 47.46, 4), ("LOWW", 16.57, 48.11, 4), ("EKCH", 12.66, 55.62, 4),
        ("ESSA", 17.92, 59.65, 3),
        ("EFHK", 24.96, 60.32, 3), ("EIDW", -6.27, 53.42, 3), ("LPPT", -9.13, 38.77, 3),
        ("LTFM", 28.74, 41.26, 8),
        ("LGAV", 23.94, 37.94, 3), ("EPWA", 20.97, 52.17, 3), ("BIKF", -22.61, 63.99, 2),
        // Africa and the Middle East
        ("OMDB", 55.36, 25.25, 9), ("OTHH", 51.61, 25.27, 6), ("OERK", 46.70, 24.96, 4),
        ("HECA", 31.41, 30.12, 4),
        ("HAAB", 38.80, 8.98, 3), ("HKJK", 36.93, -1.32, 3), ("FAOR", 28.25, -26.14, 4),
        ("DNMM", 3.32, 6.58, 3),
        // Asia and Oceania
        ("VIDP", 77.10, 28.57, 7), ("VABB", 72.87, 19.09, 6), ("VTBS", 100.75, 13.69, 7),
        ("WSSS", 103.99, 1.36, 8),
        ("WMKK", 101.71, 2.75, 5), ("WIII", 106.66, -6.13, 6), ("RPLL", 121.02, 14.51, 5),
        ("VHHH", 113.91, 22.31, 7),
        ("ZGGG", 113.30, 23.39, 7), ("ZSPD", 121.81, 31.14, 7), ("ZBAA", 116.58, 40.08, 7),
        ("RCTP", 121.23, 25.08, 5),
        ("RKSI", 126.45, 37.46, 6), ("RJTT", 139.78, 35.55, 8), ("RJAA", 140.39, 35.76, 4),
        ("YSSY", 151.18, -33.95, 6),
        ("YMML", 144.84, -37.67, 5), ("YPPH", 115.97, -31.94, 2), ("NZAA", 174.79, -37.01, 4),
        ("NFFN", 177.44, -17.76, 1),
    ]

    /// The airports between which the simulator flies.
    package static let all: [Airport] = table.compactMap { icao, longitude, latitude, weight in
        LonLat(longitude: longitude, latitude: latitude).map {
            Airport(icao: icao, place: $0, weight: weight)
        }
    }

    /// Further airports that route descriptions may name.
    private static let further: [(String, Double, Double)] = [
        ("ENGM", 11.10, 60.19), ("ENBR", 5.22, 60.29), ("EGKK", -0.19, 51.15), ("EGCC", -2.27, 53.35),
        ("EGPH", -3.37, 55.95), ("LFPO", 2.37, 48.73), ("LIMC", 8.72, 45.63), ("LKPR", 14.26, 50.10),
        ("LHBP", 19.26, 47.44), ("LROP", 26.08, 44.57), ("KCLT", -80.94, 35.21), ("KLAS", -115.15, 36.08),
        ("KMCO", -81.31, 28.43), ("KPHL", -75.24, 39.87), ("KDCA", -77.04, 38.85), ("KSLC", -111.98, 40.79),
        ("KDTW", -83.35, 42.21), ("KPDX", -122.60, 45.59), ("KSAN", -117.19, 32.73), ("CYYC", -114.01, 51.12),
        ("SBGL", -43.24, -22.81), ("GCLP", -15.39, 27.93), ("DTTA", 10.23, 36.85), ("GMMN", -7.59, 33.37),
        ("FACT", 18.60, -33.97), ("VOBL", 77.71, 13.20), ("ZUUU", 103.95, 30.58), ("RJBB", 135.24, 34.43),
        ("RKPC", 126.49, 33.51), ("YBBN", 153.12, -27.38), ("NZCH", 172.53, -43.49), ("NTAA", -149.61, -17.55),
        ("BGSF", -50.71, 67.01), ("UHHH", 135.19, 48.53), ("UUEE", 37.41, 55.97),
    ]

    /// The positions by indicator.
    static var places: [String: LonLat] {
        var places: [String: LonLat] = [:]
        for airport in all { places[airport.icao] = airport.place }
        for (icao, longitude, latitude) in further { places[icao] = LonLat(longitude: longitude, latitude: latitude) }
        return places
    }
}
