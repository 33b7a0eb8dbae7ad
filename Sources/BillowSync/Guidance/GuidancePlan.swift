import BillowFields
package import GRIBKit
package import NOAAGuidance

/// Which of NOAA's turbulence grids are fetched.
package struct GuidancePlan: Sendable, Hashable {
    /// When a forecast's run becomes visible.
    package enum Publication: String, Sendable, Hashable, CaseIterable {
        /// Lead time by lead time, as NOAA publishes them.
        case growing
        /// All wanted lead times at once.
        case whole
    }

    /// The nowcast first.
    package var products: [GuidanceProduct]
    /// Rising, without repetition.
    package var levels: [AltitudeLevel]
    /// Whether the maximum of the column is wanted too: NOAA's of the forecast, that of the levels of the nowcast.
    package var hasColumn: Bool
    /// Hours ahead of a run, rising, without repetition.
    package var leadHours: [Int]
    package var publication: Publication
    /// How far back nowcasts are fetched that were missed, in seconds.
    package var historySeconds: Int

    /// Every 2,000 ft from 10,000 to 44,000.
    package static let defaultLevels = stride(from: 10_000, through: 44_000, by: 2_000).map { AltitudeLevel(feet: $0) }
    package static let defaultLeadHours = [1, 2, 3, 6, 9, 12, 15, 18]
    /// NOAA keeps nowcasts for a short time.
    package static let longestHistorySeconds = GuidanceProduct.gtgn.searchSeconds

    package init(
        products: Set<GuidanceProduct> = Set(GuidanceProduct.allCases),
        levels: [AltitudeLevel] = GuidancePlan.defaultLevels, hasColumn: Bool = true,
        leadHours: [Int] = GuidancePlan.defaultLeadHours, publication: Publication = .growing, historySeconds: Int = 0
    ) {
        self.products = GuidanceProduct.allCases.filter(products.contains)
        self.levels = Set(levels).sorted()
        self.hasColumn = hasColumn
        self.leadHours = Set(leadHours).sorted()
        self.publication = publication
        self.historySeconds = min(max(0, historySeconds), Self.longestHistorySeconds)
    }

    /// The messages of a product's files that are wanted.
    func selection(of product: GuidanceProduct) -> MessageSelection {
        var keys = Set(
            levels.map { GuidanceMessageKey(.edr, GuidanceLevel(altitudeMeters: $0.wholeMetres)) })
        if product == .gtg, hasColumn { keys.insert(GuidanceMessageKey(.columnMaximum, .entireAtmosphere)) }
        return MessageSelection(keys)
    }

    /// The levels of a field that come from messages.
    func messageLevels(of product: GuidanceProduct) -> Set<FieldLevel> {
        var wanted = Set(levels.compactMap { FieldLevel(number: $0.feet) })
        if product == .gtg, hasColumn { wanted.insert(.column) }
        return wanted
    }
}

extension GuidanceProduct {
    /// The same in the store's terms.
    var field: FieldProduct {
        switch self {
        case .gtgn: .nowcast
        case .gtg: .forecast
        }
    }
}
