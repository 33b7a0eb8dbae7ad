package import BillowExchange
package import BillowSnapshot
import BillowStore
import Geometry
import Turbulence

/// Pilot reports in their original form.
extension FeatureSource {
    package func pilotReports(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        var after: (Instant, String)?
        if let cursor {
            guard let dash = cursor.text.firstIndex(of: "-"), let seconds = PlainInteger.parse(cursor.text[..<dash]),
                let instant = Instant(seconds: seconds)
            else { throw Self.badCursor(cursor) }
            after = (instant, String(cursor.text[cursor.text.index(after: dash)...]))
        }
        var written = 0
        var scanned = 0
        while scanned < Self.scanLimit {
            let asked = min(Self.storePage, max(limit.features - written + 1, 100, scanned))
            let place = after
            let page = try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.pilotReports(
                    after: place, from: query.from, to: query.to, limit: asked, asOf: snapshot.publication.version)
            }
            for report in page {
                // The page ends before the first report that doesn't fit. The same report from another source is added,
                // because a page cursor can't distinguish the two.
                if written >= limit.features || writer.count >= limit.bytes, written > 0,
                    after.map({ $0 != (report.observedAt, report.id) }) ?? true
                {
                    return after.map { Cursor(text: "\($0.0.seconds)-\($0.1)") }
                }
                after = (report.observedAt, report.id)
                guard query.filter.matches(report), query.contains(report.place) else { continue }
                writer.write(report)
                written += 1
            }
            if page.count < asked { return nil }
            scanned += page.count
        }
        return after.map { Cursor(text: "\($0.0.seconds)-\($0.1)") }
    }
}
