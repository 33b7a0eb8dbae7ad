import BillowSync
import Foundation
import GRIBKit
import NOAAGuidance
import UpstreamKit

/// A source of kind `noaa-gtg`.
struct NOAASettings: Sendable, Hashable {
    var configuration: GuidanceConfiguration
    var plan: GuidancePlan
}

extension NOAASettings {
    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        // Plain HTTP is permitted, because requests carry no key.
        let baseURL = section.address("baseURL", allowsPlainHTTP: true)
        var configuration = GuidanceConfiguration(baseURL: baseURL ?? GuidanceConfiguration.production)
        configuration.timeout = section.timeout() ?? configuration.timeout
        // A simulator on this machine needs no spacing.
        if BaseURL.isThisMachine(configuration.baseURL) { configuration.spacing = .zero }
        if let spacing = section.duration("spacing", from: 0, expected: "such as PT1M") {
            configuration.spacing = .seconds(spacing)
        }
        configuration.bytesPerDay =
            section.value("bytesPerDay", expected: "a number of bytes, 1 or more") {
                Int($0).flatMap { $0 > 0 ? $0 : nil }
            } ?? Self.defaultBytesPerDay
        let products = section.list(
            "products", expected: "some of \(GuidanceProduct.allCases.map(\.rawValue).joined(separator: ", "))"
        ) { GuidanceProduct(rawValue: $0) }
        let levels = section.list("levels", expected: "some of 100, 1000, 2000 … 50000, in feet, or all") { text in
            text == "all" ? AltitudeLevel.turbulenceGuidance : Self.level(text).map { [$0] }
        }
        let leads = section.list("leadTimes", expected: "hours from 0 to 18") { text in
            Int(text).flatMap { GuidanceProduct.gtg.leadHours.contains($0) ? $0 : nil }
        }
        let hasColumn = section.flag("column")
        let publication = section.value("publish", expected: "growing or whole") {
            GuidancePlan.Publication(rawValue: $0)
        }
        let history = section.duration(
            "catchUp", from: 0, to: GuidancePlan.longestHistorySeconds, expected: "from PT0S to PT2H")
        for (key, isEmpty) in [
            ("products", products?.isEmpty), ("levels", levels?.isEmpty), ("leadTimes", leads?.isEmpty),
        ] where isEmpty == true {
            section.problem(key, "is empty; leave it out for the default")
        }
        guard !section.hasProblems else { return nil }
        self.init(
            configuration: configuration,
            plan: GuidancePlan(
                products: products.map { Set($0) } ?? Set(GuidanceProduct.allCases),
                levels: levels.map { $0.flatMap(\.self) } ?? GuidancePlan.defaultLevels,
                hasColumn: hasColumn ?? true, leadHours: leads ?? GuidancePlan.defaultLeadHours,
                publication: publication ?? .growing, historySeconds: history ?? 0))
    }

    /// The default budget: more than the 5.6 GB that the default settings need.
    static let defaultBytesPerDay = 10_000_000_000

    private static func level(_ text: String) -> AltitudeLevel? {
        Int(text).flatMap { feet in AltitudeLevel.turbulenceGuidance.first { $0.feet == feet } }
    }
}
