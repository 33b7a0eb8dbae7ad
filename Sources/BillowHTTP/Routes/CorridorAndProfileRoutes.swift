import BillowEngine
import BillowParameters
import BillowAreas
import BillowExchange
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// `POST /corridors`: a ring around a route; `/profiles.json` and `.png`: a vertical section of turbulence along a
/// route.
struct CorridorAndProfileRoutes: Sendable {
    let frames: FrameSource
    let policy: FreshnessPolicy
    let styleStore: StyleStore
    let airports: AirportTable

    func add(to router: some RouterMethods<some RequestContext>) {
        router.post("/corridors") { request, _ in try await corridor(request) }
        router.get("/profiles.json") { request, _ in try await profileJSON(request) }
        router.get("/profiles.png") { request, _ in try await profilePNG(request) }
    }

    // MARK: - Corridors

    private func corridor(_ request: Request) async throws -> Response {
        let reader = try QueryReader(request, known: CorridorShapeParameters.names)
        let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
        let parameters = try CorridorShapeParameters(reader, body: body, airports: airports)
        let requested = parameters.requested
        let corridor = try AreaReader.corridor(around: requested, tolerance: parameters.tolerance)
        var json = JSONWriter()
        json.openObject()
        json.name("type")
        json.value("Feature")
        json.name("geometry")
        let polygons = corridor.area.polygons
        json.rawValue(
            FeatureWriter.bytes(of: polygons.count == 1 ? .polygon(polygons[0]) : .multiPolygon(polygons)))
        json.name("properties")
        json.openObject()
        json.name("width")
        json.value(requested.width, decimals: 3)
        json.name("length")
        json.value(requested.route.metres / Geodesic.metresPerNauticalMile, decimals: 2)
        json.name("area")
        json.value(corridor.area.areaKm2, decimals: 0)
        json.name("tolerance")
        json.value(corridor.tolerance, decimals: 6)
        json.name("positions")
        json.value(Int64(corridor.ring.count))
        json.closeObject()
        // The ring is not cut at the antimeridian, because other services expect it that way.
        json.name("ring")
        json.openArray()
        for place in corridor.ring {
            json.openArray()
            json.value(place.longitude, decimals: FeatureWriter.coordinateDecimals)
            json.value(place.latitude, decimals: FeatureWriter.coordinateDecimals)
            json.closeArray()
        }
        json.closeArray()
        json.closeObject()
        return try BytesResponse.make(
            json.bytes, headers: [.contentType: "application/geo+json", .cacheControl: "no-store"], request: request)
    }

    // MARK: - Profiles

    private struct Profile {
        var profile: VerticalProfile
        /// SIGMETs and G-AIRMETs along the route.
        var hazards: [RouteHazard]
        /// nil if no field is stored.
        var field: (profile: FieldProfile, dataStatus: DataStatus)?
        var requested: RouteReader.RequestedRoute
        var instant: Instant
        var filter: Filter
        /// The caption of the image.
        var caption: [String]
        var dataStatus: DataStatus
        var headers: HTTPFields
    }

    private func profile(_ reader: QueryReader) async throws -> Profile {
        let parameters = try ProfileParameters(reader, airports: airports)
        let (requested, filter, stretch, corridor) = (
            parameters.requested, parameters.filter, parameters.stretch, parameters.corridor
        )
        let snapshot = try frames.snapshot()
        let instant = try frames.instant(parameters.time, in: snapshot)
        let frame = try await frames.frame(at: instant, filter: filter, in: snapshot)
        let index = AreaIndex(corridor.area)
        let half = requested.width / 2 * Geodesic.metresPerNauticalMile
        let profile = VerticalProfile(
            frame.currentObservations(area: index.map { CellArea($0) } ?? .everywhere), along: requested.route,
            half: half,
            stretch: stretch * Geodesic.metresPerNauticalMile)
        let hazards = try await frames.warnings(at: instant, in: snapshot).filter { hazard in
            filter.matches(hazard) && index?.intersects(hazard.geometry.polygons) ?? true
        }
        var dataStatus = policy.turbulenceAndWarnings(
            of: .area(corridor.area), at: instant, filter: filter, in: snapshot)
        let field = try await frames.fieldProfile(
            of: requested.flight(from: instant), stretch: profile.stretch, rows: Self.rows(filter), filter: filter,
            in: snapshot
        ).map { field in
            (
                field,
                policy.dataStatus(
                    LayerList(.gtg), of: .area(corridor.area), at: field.flight.departure, filter: filter,
                    in: snapshot)
            )
        }
        if field?.1.freshness.isSimulated == true { dataStatus.freshness.isSimulated = true }
        let headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        return Profile(
            profile: profile, hazards: RouteHazard.all(hazards, along: requested.route, half: half), field: field,
            requested: requested, instant: instant, filter: filter,
            caption: dataStatus.caption(
                filter, historySeconds: filter.lookBackSeconds, asOf: snapshot.publication.asOf),
            dataStatus: dataStatus, headers: headers)
    }

    private struct ProfileAnswer: Encodable {
        var time: String
        var history: Double
        /// The same members as in a FeatureCollection.
        var dataTime: String?
        var stale: Bool
        var simulated: Bool
        var completeSince: String?
        var incomplete: Bool
        /// The lengths in nautical miles.
        var length: Double
        var width: Double
        var stretch: Double
        var records: Int
        /// The lower edge of each row, in feet.
        var altitudes: [Int]
        /// The severities by row of `altitudes` and by stretch; null for an unknown value.
        var severities: NumberGrid<Int>
        var hazards: [Hazard]
        /// The turbulence field; absent if no field is stored.
        var field: FieldProfileResponse?

        struct Hazard: Encodable {
            var area: AlertResponse.Hazard
            /// The start and end of each stretch, in nautical miles flown.
            var stretches: [[Double]]

            private enum Keys: String, CodingKey { case stretches }

            func encode(to encoder: any Encoder) throws {
                try area.encode(to: encoder)
                var members = encoder.container(keyedBy: Keys.self)
                try members.encode(stretches, forKey: .stretches)
            }
        }
    }

    private func profileJSON(_ request: Request) async throws -> Response {
        let made = try await profile(try QueryReader(request, known: ProfileParameters.names))
        let profile = made.profile
        let rows = Self.rows(made.filter)
        return try JSONResponse.make(
            ProfileAnswer(
                time: made.instant.description, history: Double(made.filter.lookBackSeconds) / 3_600,
                dataTime: made.dataStatus.freshness.dataTime?.description, stale: made.dataStatus.freshness.isStale,
                simulated: made.dataStatus.freshness.isSimulated,
                completeSince: made.dataStatus.freshness.completeSince?.description,
                incomplete: made.dataStatus.isIncomplete,
                length: Self.rounded(profile.length / Geodesic.metresPerNauticalMile), width: made.requested.width,
                stretch: Self.rounded(profile.stretch / Geodesic.metresPerNauticalMile), records: profile.records,
                altitudes: rows.map { $0 * 1_000 },
                severities: NumberGrid(
                    rows: rows.map { profile.severities[$0].map { $0.map { Int($0.rawValue) } } }),
                hazards: made.hazards.map { hazard in
                    ProfileAnswer.Hazard(
                        area: AlertResponse.Hazard(hazard.area),
                        stretches: hazard.stretches.map { stretch in
                            [stretch.lowerBound, stretch.upperBound].map {
                                Self.rounded($0 / Geodesic.metresPerNauticalMile)
                            }
                        })
                },
                field: made.field.map { FieldProfileResponse($0.profile, $0.dataStatus) }),
            headers: made.headers, request: request)
    }

    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

    private static func rows(_ filter: Filter) -> Range<Int> {
        filter.altitudes.minimum..<min(filter.altitudes.maximum, AltitudeBlock.range.count)
    }

    private func profilePNG(_ request: Request) async throws -> Response {
        let reader = try QueryReader(request, known: ProfileParameters.Picture.names)
        let parsed = try ProfileParameters.Picture(reader, styles: styleStore.current)
        let made = try await profile(reader)
        let picture = ProfilePicture(
            profile: made.profile, hazards: made.hazards,
            field: made.field.map {
                FieldLayer(
                    $0.profile, showsSmoothAir: made.filter.field.showsSmoothAir,
                    isStale: $0.dataStatus.freshness.isStale)
            },
            instant: made.instant, rows: Self.rows(made.filter), style: parsed.style,
            severities: made.filter.severities, title: parsed.title,
            caption: made.caption,
            width: parsed.width, height: parsed.height)
        var headers = made.headers
        headers[.contentType] = "image/png"
        return try BytesResponse.make(try picture.png(), headers: headers, request: request)
    }
}
