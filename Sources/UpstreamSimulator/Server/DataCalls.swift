import Foundation
import Geometry
import Hummingbird
import NIOCore
import JSONKit

/// The three data calls: they validate, select and encode. Transport and keys are handled elsewhere.
struct DataCalls: Sendable {
    let configuration: UpstreamSimulator.Configuration
    let state: SimulatorState

    static let corridorHours = [0.5, 1, 2, 4]
    static let bulkHours = [0.5, 1, 2, 3, 4]
    static let mapHours = [0.5, 1, 2, 4, 6]
    static let defaultHours = 2.0
    /// An upper bound of all valid times and ticks that is safe in arithmetic.
    private static let latest = 1 << 40

    /// `POST /observations/v5/corridor`.
    ///
    /// Source: docs/upstreams/skypath.md, "Limits of the simulator" (the order of validation)
    func corridor(_ body: ByteBuffer, fault: Fault?) throws(SkyPathErrorResponse) -> ByteBuffer {
        let request = try RequestSchema.object(body)
        guard let corridor = request["corridor"] else {
            throw .validation("body must have required property 'corridor'")
        }
        let ring = try RequestSchema.ring(corridor, at: "body/corridor")
        if let limit = configuration.areaLimitKm2, ring.areaKm2 > limit {
            throw .badRequest(
                "CORRIDOR_TOO_LARGE",
                "body/corridor area of \(Int(ring.areaKm2.rounded(.up))) km2 exceeds the limit of \(Int(limit)) km2"
            )
        }
        let since = try RequestSchema.integer(
            request["updatedSince"], at: "body/updatedSince", in: 0...DataCalls.latest)
        let hours =
            try RequestSchema.hours(request["hoursAgo"], at: "body/hoursAgo", of: DataCalls.corridorHours)
            ?? DataCalls.defaultHours
        let category = try RequestSchema.category(request["aircraftCategory"], at: "body/aircraftCategory")
        let levels = try levels(
            minimum: request["minAlt"], maximum: request["maxAlt"], at: "body")
        if since != nil, fault == .deltaRefused { throw DataCalls.expired }
        let reply = state.withPicture { picture -> (since: Int, records: [PlacedReport])? in
            if let since, since < picture.now - 4 * 3_600 { return nil }
            let matches = matcher(
                picture: picture, hours: hours, since: since, levels: levels, fault: fault
            ) { ring.contains(longitude: $0.longitude, latitude: $0.latitude) }
            return (lastUpdatedAt(picture, fault), select(&picture, fault, matches))
        }
        guard let reply else { throw DataCalls.expired }
        return JSONText.corridor(
            applyFault(reply.records.map { output($0, category) }, fault, isDelta: since != nil),
            lastUpdatedAt: fault == .missingCursor ? nil : reply.since,
            warning: ring.isConvex ? nil : "the corridor is not convex")
    }

    /// `POST /v4/map`.
    func map(_ body: ByteBuffer, fault: Fault?) throws(SkyPathErrorResponse) -> ByteBuffer {
        let request = try RequestSchema.object(body)
        let ring: CorridorRing? =
            if let geofence = request["geofence"] { try RequestSchema.ring(geofence, at: "body/geofence") } else { nil }
        let tick = try RequestSchema.integer(
            request["skypath_tick"], at: "body/skypath_tick", in: 0...DataCalls.latest)
        let hours = try RequestSchema.hours(request["hours"], at: "body/hours", of: DataCalls.mapHours)
        let category = try RequestSchema.category(request["aircraftCategory"], at: "body/aircraftCategory")
        let severities = try severities(request["severities"])
        if tick != nil, fault == .deltaRefused { throw DataCalls.expired }
        let reply = state.withPicture { picture -> (tick: Int, records: [PlacedReport])? in
            if let tick, tick * 60 < picture.now - 6 * 3_600 { return nil }
            let matches = matcher(
                picture: picture, hours: hours ?? (tick == nil ? DataCalls.defaultHours : 6),
                since: tick.map { $0 * 60 }, levels: RequestSchema.levels, fault: fault
            ) { placed in
                (ring?.contains(longitude: placed.longitude, latitude: placed.latitude) ?? true)
                    && severities.contains(category.severity(tenThousandths: placed.report.edr))
            }
            return (picture.now / 60 - (fault == .clockSkew ? 1 : 0), select(&picture, fault, matches))
        }
        guard let reply else { throw DataCalls.expired }
        return JSONText.map(
            applyFault(reply.records.map { output($0, category) }, fault, isDelta: tick != nil),
            tick: fault == .missingCursor ? nil : reply.tick)
    }

    /// `GET /adsb/v5/hexagons/{hexId}`.
    func hexagons(_ id: String, query: [String: String], fault: Fault?) throws(SkyPathErrorResponse) -> ByteBuffer {
        guard let parent = H3Index.parse(id), let resolution = H3.resolution(of: parent),
            resolution <= 1
        else {
            throw .validation("params/hexId must be an H3 cell of resolution 0 or 1")
        }
        func value(_ name: String) -> JSONValue? {
            query[name].map { text in Double(text).map { .number($0) } ?? .string(text) }
        }
        let hours =
            try RequestSchema.hours(value("hoursAgo"), at: "querystring/hoursAgo", of: DataCalls.bulkHours)
            ?? DataCalls.defaultHours
        let minimum = try RequestSchema.integer(value("minSev"), at: "querystring/minSev", in: 0...4) ?? 0
        let levels = try levels(minimum: value("minAlt"), maximum: value("maxAlt"), at: "querystring")
        let records = state.withPicture { picture -> [PlacedReport] in
            let matches = matcher(
                picture: picture, hours: hours, since: nil, levels: levels, fault: fault
            ) { placed in
                H3.parent(of: placed.cell, resolution: resolution) == parent
                    && Category.medium.severity(tenThousandths: placed.report.edr) >= minimum
            }
            return select(&picture, fault, matches)
        }
        let rows = zip(
            records, applyFault(records.map { output($0, .medium) }, fault, isDelta: false)
        ).map { placed, output in
            (#""\#(H3.childPosition(of: placed.cell, parentResolution: resolution))""#, output)
        }
        return JSONText.hexagons(rows, altitudesMissing: fault == .unequalArrays ? 1 : 0)
    }

    /// `GET` of SkyPath's other products; the parameters are those of calls with complete responses.
    func whole(
        _ product: SkyPathProduct, of world: SkyPathWorld, query: [String: String], fault: Fault?
    ) throws(SkyPathErrorResponse) -> ByteBuffer {
        let value = query["hoursAgo"].map { text in Double(text).map { JSONValue.number($0) } ?? .string(text) }
        let hours =
            try RequestSchema.hours(value, at: "querystring/hoursAgo", of: DataCalls.mapHours) ?? DataCalls.defaultHours
        var answer = world.answer(product, hours: hours, at: state.now)
        if fault == .empty { answer = answer.withoutRecords }
        if fault == .wrongTypes { answer = answer.withBrokenRecord }
        do { return ByteBuffer(bytes: try JSONEncoder().encode(answer)) } catch {
            throw SkyPathErrorResponse(status: .internalServerError, code: "INTERNAL", message: "\(error)")
        }
    }

    private static let expired = SkyPathErrorResponse.badRequest(
        "CURSOR_EXPIRED", "changes since then are not available any more")

    private func levels(
        minimum: JSONValue?, maximum: JSONValue?, at path: String
    ) throws(SkyPathErrorResponse) -> ClosedRange<Int> {
        let low =
            try RequestSchema.integer(minimum, at: "\(path)/minAlt", in: RequestSchema.levels)
            ?? RequestSchema.levels.lowerBound
        let high =
            try RequestSchema.integer(maximum, at: "\(path)/maxAlt", in: RequestSchema.levels)
            ?? RequestSchema.levels.upperBound
        guard low <= high else { throw .validation("\(path)/minAlt must be <= maxAlt") }
        return low...high
    }

    private func severities(_ value: JSONValue?) throws(SkyPathErrorResponse) -> Set<Int> {
        guard let value else { return Set(0...4) }
        guard let items = value.array else { throw .validation("body/severities must be array") }
        var severities: Set<Int> = []
        for (index, item) in items.enumerated() {
            guard let one = try RequestSchema.integer(item, at: "body/severities/\(index)", in: 0...4) else {
                continue
            }
            severities.insert(one)
        }
        return severities
    }

    private func matcher(
        picture: Picture, hours: Double, since: Int?, levels: ClosedRange<Int>, fault: Fault?,
        _ isInside: @escaping (PlacedReport) -> Bool
    ) -> (PlacedReport) -> Bool {
        let oldest = picture.now - Int(hours * 3_600)
        let changedSince = since.map { fault == .duplicatesAtCursor ? $0 - 600 : $0 } ?? Int.min
        return { placed in
            placed.report.observedAt > oldest && placed.report.changedAt >= changedSince
                && levels.contains(placed.level)
                && isInside(placed)
        }
    }

    private func lastUpdatedAt(_ picture: Picture, _ fault: Fault?) -> Int {
        let tenYears = 10 * 365 * 86_400
        return switch fault {
        case .clockSkew: max(0, picture.lastChange - 60)
        case .futureCursor: picture.lastChange + tenYears
        default: picture.lastChange
        }
    }

    private func select(_ picture: inout Picture, _ fault: Fault?, _ matches: (PlacedReport) -> Bool)
        -> [PlacedReport]
    {
        var records = fault == .empty ? [] : picture.select(matches)
        if fault == .halfGone { records = records.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
        guard fault == .fallingSeverity else { return records }
        let worst = records.filter { $0.report.edr >= 2_000 && $0.report.observedAt < picture.now }
            .sorted { ($0.report.edr, $0.report.key) > ($1.report.edr, $1.report.key) }
            .prefix(8)
        for placed in worst {
            picture.inject(
                Report(
                    key: placed.report.key, observedAt: picture.now, changedAt: picture.now, edr: 200,
                    flight: placed.report.flight))
        }
        return picture.select(matches)
    }

    private func output(_ placed: PlacedReport, _ category: Category) -> Output {
        Output(
            id: placed.cell.h3String, level: placed.level,
            severity: category.severity(tenThousandths: placed.report.edr),
            edr: placed.report.edr, observedAt: placed.report.observedAt, tick: placed.report.changedAt / 60)
    }

    /// Applies a content fault to the records.
    private func applyFault(_ records: [Output], _ fault: Fault?, isDelta: Bool) -> [Output] {
        guard let fault else { return records }
        var records = records
        switch fault {
        case .duplicatesAtCursor:
            if isDelta { records += records }
        case .resolution10, .resolution4:
            for index in records.indices {
                guard let cell = Cell(h3String: records[index].id) else { continue }
                let other =
                    fault == .resolution10
                    ? H3.centerChild(of: cell, resolution: 10) : H3.parent(of: cell, resolution: 4)
                records[index].id = String(other, radix: 16)
            }
        case .missingEDR:
            for index in records.indices { records[index].edr = nil }
        case .severity5:
            for index in records.indices where records[index].severity == 4 {
                records[index].severity = 5
            }
        case .wrongTypes:
            for index in records.indices where index % 5 == 0 {
                records[index].broken = DataCalls.broken[index / 5 % DataCalls.broken.count]
            }
        default: break
        }
        return records
    }

    /// Invalid records, each for another reason. They have the member names of both responses where necessary.
    static let broken = [
        "null",
        "17",
        #""852a1073fffffff""#,
        "[1,2,3]",
        "{}",
        #"{"id":null,"hex_id":null,"alt":30,"skypath_alt":30,"sev":1,"observedAt":1767225584,"ts":1767225584}"#,
        #"{"id":"zzz","hex_id":"zzz","alt":30,"skypath_alt":30,"sev":1,"observedAt":1767225584,"ts":1767225584}"#,
        #"{"id":"852a1073fffffff","hex_id":"852a1073fffffff","#
            + #""alt":"thirty","skypath_alt":"thirty","sev":1,"observedAt":1767225584,"ts":1767225584}"#,
        #"{"id":"852a1073fffffff","hex_id":"852a1073fffffff","#
            + #""alt":1e300,"skypath_alt":1e300,"sev":1,"observedAt":1767225584,"ts":1767225584}"#,
        #"{"id":"852a1073fffffff","hex_id":"852a1073fffffff","#
            + #""alt":30,"skypath_alt":30,"sev":"NaN","observedAt":1767225584,"ts":1767225584}"#,
        #"{"id":"852a1073fffffff","hex_id":"852a1073fffffff","#
            + #""alt":30,"skypath_alt":30,"sev":-1,"observedAt":1767225584,"ts":1767225584}"#,
        #"{"id":"852a1073fffffff","hex_id":"852a1073fffffff","#
            + #""alt":30,"skypath_alt":30,"sev":1,"observedAt":1767225584000,"ts":1767225584000}"#,
        #"{"id":"852a1073fffffff","hex_id":"852a1073fffffff","#
            + #""alt":30,"skypath_alt":30,"sev":1,"observedAt":true,"ts":true}"#,
    ]
}
