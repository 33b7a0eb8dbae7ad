import BillowTimeline
import Foundation
import Geometry
import Turbulence
package import JSONKit

/// The settings of a source that can be changed at run time.
package struct SourceSettings: Sendable, Hashable {
    /// nil for a source without a query.
    package var query: DataQuery?
    package var update: UpdateFrequency

    package init(query: DataQuery?, update: UpdateFrequency) {
        self.query = query
        self.update = update
    }

    /// The settings as JSON: `update` and the query's members.
    package var json: [String: JSONValue] { queryJSON.merging(["update": .string(update.text)]) { $1 } }

    /// The query's members as JSON; empty without a query.
    package var queryJSON: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        guard let query else { return members }
        func ring(_ ring: AreaRing?) -> JSONValue {
            guard let ring else { return .null }
            return .array(ring.places.map { .array([.number($0.longitude), .number($0.latitude)]) })
        }
        members["types"] = .array(query.types.sorted().map { .string($0.name) })
        members["severities"] = .array(
            Severity.allCases.filter(query.severities.contains).map { .number(Double($0.rawValue)) })
        members["history"] = .number(query.history.hours)
        members["category"] = .string(query.category.name)
        members["global"] = .bool(query.global)
        if !query.scopes.isEmpty {
            members["scope"] = .object(
                Dictionary(uniqueKeysWithValues: query.scopes.map { ($0.key.name, .string($0.value.rawValue)) }))
        }
        members["polygon"] = ring(query.polygon)
        members["viewport"] = ring(query.viewport)
        members["polygonsUpTo"] = .bool(query.polygonsUpTo)
        return members
    }

    /// The stored form, equal for equal settings in every process.
    var text: String { Self.text(.object(json)) }

    static func text(_ value: JSONValue) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a number that is not finite can't be encoded, and no setting is one.
        guard let data = try? encoder.encode(value) else { preconditionFailure("settings can't be written as JSON") }
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: - Changes

    /// An invalid member, and its valid values.
    package struct Problem: Error, Sendable, Hashable {
        package var member: String
        package var value: String
        package var allowed: String
        /// The part of the query with an invalid ring; nil for other problems.
        package var area: DataQuery.Area?
        /// A sentence about members that are valid, but not in combination.
        package var reason: String?

        init(member: String, value: String, allowed: String, area: DataQuery.Area? = nil) {
            self.member = member
            self.value = value
            self.allowed = allowed
            self.area = area
        }

        /// A query that the upstream can't answer.
        init(unaskable member: String, _ reason: String) {
            self.init(
                member: member, value: "", allowed: "a query that the upstream supports",
                area: member == "polygon" ? .corridor : member == "viewport" ? .viewport : nil)
            self.reason = reason
        }
    }

    /// These settings after a change of some members.
    /// - Parameter types: the types that may be requested.
    /// - Throws: at the first invalid member.
    package func changed(by members: [String: JSONValue], types: [QueryType]) throws(Problem)
        -> SourceSettings
    {
        var settings = self
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            if name == "update" {
                settings.update = try Self.frequency(value)
            } else if var query = settings.query {
                try Self.change(&query, name, value, types)
                settings.query = query
            } else {
                throw Problem(
                    member: name, value: value.text,
                    allowed: "left out; only update can be changed for this kind of source")
            }
        }
        return settings
    }

    private static func frequency(_ value: JSONValue) throws(Problem) -> UpdateFrequency {
        if let text = value.string {
            if let named = UpdateFrequency(name: text) { return named }
            if let seconds = ISODuration.seconds(text), seconds >= 1 { return .every(.seconds(seconds)) }
        }
        throw Problem(
            member: "update", value: value.text,
            allowed: "\(UpdateFrequency.names.joined(separator: ", ")), or a duration from PT1S such as PT30S")
    }

    private static func change(
        _ query: inout DataQuery, _ name: String, _ value: JSONValue, _ types: [QueryType]
    ) throws(Problem) {
        func invalidValue(_ allowed: String, _ area: DataQuery.Area? = nil) -> Problem {
            Problem(member: name, value: value.text, allowed: allowed, area: area)
        }
        func flag() throws(Problem) -> Bool {
            guard let flag = value.bool else { throw invalidValue("true or false") }
            return flag
        }
        switch name {
        case "types":
            let named = value.array?.map { value in types.first { $0.name == value.string } }
            guard let named, !named.contains(nil) else {
                throw invalidValue("a list of \(types.map(\.name).joined(separator: ", "))")
            }
            query.types = Set(named.compactMap { $0 })
        case "severities":
            let listed = value.array?.map { severity in
                Severity(severity.integer.map(String.init) ?? severity.string ?? "")
            }
            guard let listed, !listed.contains(nil) else {
                throw invalidValue("a list of severities, 0 to 4 or their names")
            }
            query.severities = SeveritySet(listed.compactMap { $0 })
        case "history":
            guard let hours = value.number, let history = History.allCases.first(where: { $0.hours == hours }) else {
                throw invalidValue(History.allCases.map(\.text).joined(separator: ", "))
            }
            query.history = history
        case "category":
            guard let category = value.string.flatMap({ AircraftCategory($0) }) else {
                throw invalidValue("C10, C20 … C110")
            }
            query.category = category
        case "global": query.global = try flag()
        case "scope": query.scopes = try scopes(value, types) { invalidValue($0) }
        case "polygonsUpTo": query.polygonsUpTo = try flag()
        case "polygon": query.polygon = try ring(value) { invalidValue($0, .corridor) }
        case "viewport": query.viewport = try ring(value) { invalidValue($0, .viewport) }
        default:
            throw invalidValue(
                "one of update, types, severities, history, category, global, scope, polygon, viewport, polygonsUpTo; "
                    + "nothing else can be changed here")
        }
    }

    /// Parses null, or an object with a scope for some types.
    private static func scopes(
        _ value: JSONValue, _ types: [QueryType], invalidValue: (String) -> Problem
    ) throws(Problem) -> [QueryType: DataQuery.Scope] {
        if value == .null { return [:] }
        let form =
            "null, or an object from \(types.map(\.name).joined(separator: ", ")) to "
            + DataQuery.Scope.allCases.map(\.rawValue).joined(separator: " or ")
        guard case .object(let members) = value else { throw invalidValue(form) }
        var scopes: [QueryType: DataQuery.Scope] = [:]
        for (name, scope) in members {
            guard let type = types.first(where: { $0.name == name }),
                let scope = scope.string.flatMap(DataQuery.Scope.init(rawValue:))
            else { throw invalidValue(form) }
            scopes[type] = scope
        }
        return scopes
    }

    /// Parses null, a list of [longitude, latitude], or a GeoJSON Polygon of one ring.
    private static func ring(_ value: JSONValue, invalidValue: (String) -> Problem) throws(Problem) -> AreaRing? {
        if value == .null { return nil }
        let form = "null, a closed ring of 4 to 250 [longitude, latitude], or a GeoJSON Polygon of one"
        var list = value.array
        if case .object = value, value["type"]?.string == "Polygon", let rings = value["coordinates"]?.array,
            rings.count == 1
        {
            list = rings[0].array
        }
        guard let list else { throw invalidValue(form) }
        var places: [LonLat] = []
        for position in list {
            guard let numbers = position.array?.map(\.number), (2...3).contains(numbers.count),
                let longitude = numbers[0], let latitude = numbers[1]
            else { throw invalidValue(form) }
            guard let place = LonLat(longitude: longitude, latitude: latitude) else {
                throw invalidValue("positions within longitude ±360 and latitude ±90; one is \(longitude), \(latitude)")
            }
            places.append(place)
        }
        do throws(AreaRing.Failure) { return try AreaRing(places) } catch { throw invalidValue("\(form): \(error)") }
    }
}

/// A source's changed settings and its rejected key, as stored across restarts.
struct PersistedSourceOverride: Sendable {
    /// The configuration to which the changes apply.
    var configured: String
    var settings: [String: JSONValue]
    /// The fingerprint of the rejected key; nil if none was rejected.
    var haltedCredential: String?
    /// The upstream's rejection; nil if there was none.
    var refusal: SourceState.Failure?

    init(
        configured: String, settings: SourceSettings, haltedCredential: String?, refusal: SourceState.Failure? = nil
    ) {
        self.configured = configured
        self.settings = settings.json
        self.settings["viewport"] = nil
        self.haltedCredential = haltedCredential
        self.refusal = refusal
    }

    /// Parses `text`; nil for any other text. An unreadable override counts as none.
    init?(text: String) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)),
            let configured = value["configured"]?.string, case .object(let settings)? = value["settings"]
        else { return nil }
        self.configured = configured
        self.settings = settings
        haltedCredential = value["haltedCredential"]?.string
        if let code = (value["refusal"]?["code"]?.string).flatMap(SyncError.Code.init(rawValue:)),
            let message = value["refusal"]?["message"]?.string,
            let seconds = value["refusal"]?["at"]?.integer, let at = Instant(seconds: seconds)
        {
            refusal = SourceState.Failure(code: code, message: message, at: at)
        }
    }

    var text: String {
        SourceSettings.text(
            .object([
                "configured": .string(configured), "settings": .object(settings),
                "haltedCredential": haltedCredential.map { .string($0) } ?? .null,
                "refusal": refusal.map { refusal in
                    .object([
                        "code": .string(refusal.code.rawValue), "message": .string(refusal.message),
                        "at": .number(Double(refusal.at.seconds)),
                    ])
                } ?? .null,
            ]))
    }

    /// The settings; nil if this version can't use them.
    /// - Parameter types: the types that may be requested.
    func settings(like configured: SourceSettings, types: [QueryType]) -> SourceSettings? {
        try? configured.changed(by: settings, types: types)
    }
}
