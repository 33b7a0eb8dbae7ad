import BillowEngine
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry
import Turbulence

/// A layer in the capabilities of WMS and WMTS.
struct OGCLayer: Sendable {
    struct Legend: Sendable {
        let style: Style
        let size: LegendPainter.Size
    }

    let dataset: Dataset
    /// A description of the layer, its sources, and the age of their data.
    let abstract: String
    /// The time dimension of its frames: `start/end/PT1M`.
    let time: String
    /// One legend for each style, the default first.
    let legends: [Legend]
    /// The extent of its data, in degrees.
    let box: BoundingBox
}

/// The layers of the catalogue with their current extents.
struct OGCCatalogue: Sendable {
    let frames: FrameSource
    let policy: FreshnessPolicy
    let styleStore: StyleStore
    let legends: LegendPainter

    /// The title of every service.
    static let title = "Billow"
    static let keywords = ["turbulence", "aviation", "SIGMET", "PIREP", "EDR"]

    /// The description of the whole service; it contains SIMULATED if any source is simulated.
    func abstract(in snapshot: Snapshot) -> String {
        "Turbulence as observed, issued and computed. Not for operational use."
            + (isSimulated(snapshot) ? " SIMULATED: none of the data is real." : "")
    }

    private func isSimulated(_ snapshot: Snapshot) -> Bool { snapshot.sources.contains { $0.simulated == true } }

    /// Computes the sizes of legends, so it must run as a job.
    func layers(in snapshot: Snapshot) async throws -> [OGCLayer] {
        var layers: [OGCLayer] = []
        for dataset in Catalogue.layers { layers.append(try await layer(dataset, in: snapshot)) }
        return layers
    }

    private func layer(_ dataset: Dataset, in snapshot: Snapshot) async throws -> OGCLayer {
        var list: [OGCLayer.Legend] = []
        for style in styleStore.current.styles {
            let legend = LayerList(dataset).legend(style: style, simulated: isSimulated(snapshot))
            list.append(OGCLayer.Legend(style: style, size: try await legends.size(legend, options: LegendOptions())))
        }
        return OGCLayer(
            dataset: dataset, abstract: abstract(of: dataset, in: snapshot), time: time(of: dataset, in: snapshot),
            legends: list, box: (dataset.content == .field ? snapshot.fieldCoverage.box : nil) ?? .world)
    }

    private func abstract(of dataset: Dataset, in snapshot: Snapshot) -> String {
        let dataStatus = policy.dataStatus(
            LayerList(dataset), at: snapshot.publication.asOf, filter: Filter(), in: snapshot)
        let sources = policy.sourceNames(of: Set(dataset.kinds), in: snapshot)
        let freshness = dataStatus.freshness
        let parts: [String?] = [
            dataset.summary, dataset.attribution.map { "\($0)." },
            sources.isEmpty ? "It has no source." : "Sources: \(sources.joined(separator: ", ")).",
            freshness.dataTime.map { "Last data \($0)." },
            freshness.isStale ? "STALE: the data is older than it should be." : nil,
            dataStatus.isIncomplete ? "INCOMPLETE: \(freshness.sinceWords)." : nil,
            freshness.isSimulated ? "SIMULATED: none of the data is real." : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }

    /// The extent in whole minutes. Instants between them are valid too.
    private func time(of dataset: Dataset, in snapshot: Snapshot) -> String {
        let extent = snapshot.dataExtent(of: dataset)
        let start = extent.lowerBound.advanced(by: 59).floored(toMultipleOf: 60)
        let end = extent.upperBound.floored(toMultipleOf: 60)
        return start < end ? "\(start)/\(end)/PT1M" : extent.upperBound.description
    }

    /// The URL of a legend.
    static func legend(_ base: String, _ dataset: Dataset, _ style: Style) -> String {
        "\(base)/legend.png?layer=\(dataset.id)&style=\(style.id)"
    }
}
