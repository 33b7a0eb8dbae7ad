import Foundation
import JSONKit

/// The Aviation Weather Center's captured answers: `pirep…`, `airsigmet…`, `isigmet…` and `gairmet…`, in the JSON
/// form, and of aircraft reports in the GeoJSON form too. The times of each file are moved by themselves, so that its
/// newest record
/// is of the moment when the simulator started.
struct AviationWeatherReplay: Sendable {
    private var records: [AviationWeatherProduct: [AviationWeatherRecord]] = [:]

    /// - Throws: `ReplayError`, naming the file.
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

    /// nil where no file of that product was there: then it is simulated.
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
