import BillowFields
package import GRIBKit
package import NOAAGuidance

/// The selection of NOAA's turbulence grids to fetch.
package struct GuidancePlan: Sendable, Hashable {
    /// The rule for when a forecast's run becomes visible.
    package enum Publication: String, Sendable, Hashable, CaseIterable {
        /// Lead time by lead time, as NOAA publishes them.
        case growing
        /// All selected lead times at once.
        case whole
    }

    /// The products, nowcast first.
    package var products: [GuidanceProduct]
    /// The levels in rising order, without repetition.
    package var levels: [AltitudeLevel]
    /// Whether to store the maximum of the column: NOAA's for the forecast, the maximum of the levels for the nowcast.
    package var hasColumn: Bool
    /// The lead times in hours, in rising order, without repetition.
    package var leadHours: [Int]
    package var publication: Publication
    /// The age in seconds up to which missed nowcasts are fetched.
    package var historySeconds: Int

    /// Every 2,000 ft from 10,000 to 44,000.
    package static let defaultLevels = stride(from: 10_000, through: 44_000, by: 2_000).map { AltitudeLevel(feet: $0) }
    package static let defaultLeadHours = [1, 2, 3, 6, 9, 12, 15, 18]
    /// NOAA deletes nowcasts after a short time.
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

    /// The selected messages of a product's files.
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
    /// The product as the store names it.
    var field: FieldProduct {
        switch self {
        case .gtgn: .nowcast
        case .gtg: .forecast
        }
    }
}
