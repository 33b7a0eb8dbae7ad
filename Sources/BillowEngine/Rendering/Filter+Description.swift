import BillowFields
package import BillowSnapshot
import BillowTiles
import Turbulence

extension Filter {
    /// A description of this filter for captions: `FL300–FL410`, `last 6 h`. Empty for the default filter. A frame of a
    /// few levels without this caption would look like smooth air at all of them.
    ///
    /// - Parameter lookBackSeconds: 0 if no layer of the frame looks back, so that no history is described.
    func descriptions(lookBackSeconds: Int) -> [String] {
        [
            FlightLevelText.band(
                altitudes.minimum > AltitudeRange.all.minimum ? altitudes.minimum * 1_000 : nil,
                altitudes.maximum < AltitudeRange.all.maximum ? altitudes.maximum * 1_000 : nil),
            [0, History.default.seconds].contains(lookBackSeconds) ? nil : "last \(Self.duration(lookBackSeconds))",
            Self.words(of: severities),
            kinds.map { Self.list($0.map(\.name).sorted() + (areaKinds ?? []).sorted(), "kinds") },
            sources.map { Self.list($0.map(\.name).sorted(), "sources") },
            category == .default ? nil : category.name,
            field.product?.name.uppercased(), field.run.map { "run of \($0.displayText)" },
        ].compactMap { $0 }
    }

    /// The description as a line of a legend; empty without a description.
    package func notes(lookBackSeconds: Int) -> [String] {
        let descriptions = descriptions(lookBackSeconds: lookBackSeconds)
        return descriptions.isEmpty ? [] : ["Shown: \(descriptions.joined(separator: " · "))"]
    }

    private static func words(of severities: SeveritySet) -> String? {
        let shown = Severity.allCases.filter { severities.contains($0) }
        guard let least = shown.first, shown.count > 1 else { return list(shown.map(\.name), "severities") }
        if severities == .atLeast(least) { return least == .smooth ? nil : "\(least.name) or worse" }
        return list(shown.map(\.name), "severities")
    }

    /// More items would fill the image.
    private static let maximumListed = 4

    private static func list(_ names: [String], _ plural: String) -> String {
        switch names.count {
        case 0: "no \(plural)"
        case 1...maximumListed: names.joined(separator: ", ")
        default: "\(names.count) \(plural)"
        }
    }

    private static func duration(_ seconds: Int) -> String {
        switch seconds {
        case let seconds where seconds % 3_600 == 0: "\(seconds / 3_600) h"
        case let seconds where seconds % 60 == 0: "\(seconds / 60) min"
        default: "\(seconds) s"
        }
    }
}
