import Foundation
import JSONKit

/// Captured responses of the Aviation Weather Center: files whose names begin with a product's name and `_`, such as
/// `pirep_…`, in the JSON or the GeoJSON format. The times of each file are shifted separately, so that its newest
/// record has the time when the simulator started.
struct AviationWeatherReplay: Sendable {
    private var records: [AviationWeatherProduct: [AviationWeatherRecord]] = [:]

    /// - Throws: `ReplayError` with the file's name.
    init(_ replay: Replay, startedAt: Int) throws(ReplayError) {
        for product in AviationWeatherProduct.all {
            let files = replay.files(named: product.name + "_")
                .filter { $0.name.hasSuffix(".json") || $0.name.hasSuffix(".geojson") }
            guard !files.isEmpty else { continue }
            records[product] = []
            for file in files {
                let captured = try Self.records(of: file, product)
                let shift = ReplayShift(newest: captured.compactMap(\.newest).max() ?? startedAt, startedAt: startedAt)
                records[product, default: []] += captured.map { $0.moved(by: shift.fixed) }
            }
        }
    }

    /// The captured records; nil if there is no file of that product, which is then simulated.
    func records(of product: AviationWeatherProduct) -> [AviationWeatherRecord]? { records[product] }

    private static func records(
        of file: Replay.File, _ product: AviationWeatherProduct
    ) throws(ReplayError) -> [AviationWeatherRecord] {
        let bytes = try file.bytes()
        let document: JSONValue
        do { document = try JSONDecoder().decode(JSONValue.self, from: Data(bytes)) } catch {
            throw .unreadable(path: file.path, reason: "\(error)")
        }
        if let objects = document.array {
            return objects.compactMap { if case .object(let members) = $0 { .init(members: members) } else { nil } }
        }
        guard let features = document["features"]?.array else {
            throw .unreadable(path: file.path, reason: "it is no array of records")
        }
        return product == .pilotReports
            ? features.compactMap(AviationWeatherRecord.init(pilotReport:))
            : features.compactMap(AviationWeatherRecord.init(area:))
    }
}
