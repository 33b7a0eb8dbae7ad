import BillowSync
import Foundation
import Geometry
import SkyPath
import Turbulence

/// A source of kind `skypath`.
struct SkyPathSettings: Sendable, Hashable {
    var configuration: SkyPathConfiguration
    var api: SkyPathUpstream.API
    var query: DataQuery
}

extension SkyPathSettings {
    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        let allowsPlainHTTP = section.flag("allowsPlainHTTP") ?? false
        let environment = section.value(
            "baseURL", expected: "an https address, or one of development, staging, production"
        ) { SkyPathEnvironment($0) }
        section.require("baseURL")
        for problem in environment?.problems(allowsPlainHTTP: allowsPlainHTTP) ?? [] {
            section.problem("baseURL", "can't be used: \(problem)")
        }
        let key = section.value("apiKey", expected: "1 or more printable ASCII characters", secret: true) {
            Secret($0)
        }
        section.require("apiKey")
        let name = "1 to 100 characters"
        let company = section.value("company", expected: name) { (1...100).contains($0.count) ? $0 : nil }
        let user = section.value("user", expected: name) { (1...100).contains($0.count) ? $0 : nil }
        for (key, other) in [("user", "company"), ("company", "user")] where section.has(other) && !section.has(key) {
            section.problem(key, "is missing, where \(other) is given")
        }
        let api = section.value("api", expected: "v4 or v5") { SkyPathUpstream.API(rawValue: $0) } ?? .v5
        let timeout = section.timeout()
        let wire = SkyPathWire(section.section("wire"))
        let limits = SkyPathLimits(section.section("limits"))
        let querySection = section.section("query")
        let query = DataQuery(querySection)
        if !querySection.hasProblems, let problem = SkyPathUpstream.problem(with: query, api: api, limits: limits) {
            querySection.problem(problem.member, "can't be used: \(problem.text)")
        }
        guard !section.hasProblems, let environment, let key else { return nil }
        var configuration = SkyPathConfiguration(
            environment: environment, apiKey: key, allowsPlainHTTP: allowsPlainHTTP, wire: wire, limits: limits)
        if let company, let user { configuration.account = SkyPathAccount(company: company, user: user) }
        if let timeout { configuration.timeout = timeout }
        self.init(configuration: configuration, api: api, query: query)
    }
}

extension DataQuery {
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        if let listed = section.list(
            "types", expected: "some of \(QueryType.skyPath.map(\.name).joined(separator: ", "))",
            { name in QueryType.skyPath.first { $0.name == name } })
        {
            types = Set(listed)
        }
        if let listed = section.list("severities", expected: "severities 0 to 4", { Severity($0) }) {
            severities = SeveritySet(listed)
        }
        history = section.value("history", expected: "0.5, 1, 2, 4 or 6") { History($0) } ?? history
        category = section.value("category", expected: "C10, C20 … C110") { AircraftCategory($0) } ?? category
        global = section.flag("global") ?? global
        let scope = section.section("scope")
        for type in QueryType.skyPath {
            scopes[type] = scope.value(type.name, expected: "areas or global") { Scope(rawValue: $0) }
        }
        scope.finish()
        polygonsUpTo = section.flag("polygonsUpTo") ?? polygonsUpTo
        if let pairs = section.ring("polygon") {
            let places = pairs.compactMap { LonLat(longitude: $0.0, latitude: $0.1) }
            if places.count != pairs.count {
                section.problem("polygon", "has a position outside longitude ±360 or latitude ±90")
            } else {
                do { polygon = try AreaRing(places) } catch {
                    section.problem("polygon", "can't be used: \(error.description)")
                }
            }
        }
        section.finish()
    }
}

extension SkyPathWire {
    /// Reads the assumptions about names that SkyPath does not document; each is a setting.
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        for setting in SkyPathWire.settings {
            let text = section.value(setting.name, expected: setting.form.expected) {
                setting.form.allows($0) ? $0 : nil
            }
            if let text { self[keyPath: setting.value] = text }
        }
        for problem in problems { section.problem(problem.setting, problem.text) }
        section.finish()
    }
}

extension SkyPathLimits {
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        if let area = section.value(
            "corridorAreaKm2", expected: "an area above 0 in km²",
            { Double($0).flatMap { $0 > 0 && $0.isFinite ? $0 : nil } })
        {
            corridorAreaKm2 = area
        }
        cursorOverlapSeconds =
            section.integer("cursorOverlapSeconds", in: 0...3_600, unit: "seconds") ?? cursorOverlapSeconds
        tickOverlap = section.integer("tickOverlap", in: 0...60, unit: "ticks") ?? tickOverlap
        section.finish()
    }
}
