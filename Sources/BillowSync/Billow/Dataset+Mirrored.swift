package import Datasets
import Turbulence

extension Dataset {
    /// Whether a server can mirror it from another one: its features have everything that the log stores of it, and no
    /// other dataset has the same data.
    package var isMirrored: Bool {
        switch content {
        case .history(.observations): selection == .observed
        case .history(.reports), .areas: true
        case .history, .positions, .polygons, .field: false
        }
    }
}

extension Catalogue {
    /// The datasets that can be mirrored.
    package static let mirrored = all.filter(\.isMirrored)
}
