package import BillowRaster
package import BillowSnapshot
import BillowTiles
package import Turbulence

/// Identifies everything that determines a rendered frame's bytes besides its version: the log's name, and all settings
/// that turn data into pixels. A URL with both always returns the same bytes, even after settings change. Servers with
/// the same settings and log compute the same key.
package struct RenderKey: Sendable, Hashable, CustomStringConvertible {
    /// 16 hexadecimal digits.
    package let description: String

    package init(log: String, style: Style, severityTable: SeverityTable, trafficDropSeconds: Int) {
        var fingerprint = Fingerprint()
        fingerprint.mix(log)
        fingerprint.mix(TileService.rendererBuild)
        style.mix(into: &fingerprint)
        for category in AircraftCategory.all {
            let thresholds = severityTable.thresholds(for: category)
            for edr in [thresholds.light, thresholds.lightModerate, thresholds.moderate, thresholds.moderateSevere] {
                fingerprint.mix(UInt64(edr.tenThousandths))
            }
        }
        fingerprint.mix(UInt64(clamping: trafficDropSeconds))
        description = String(fingerprint.text.prefix(16))
    }

    /// nil unless the text is 16 hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 16, text.allSatisfy({ "0123456789abcdef".contains($0) }) else { return nil }
        description = text
    }
}

/// The revision in a frame's URL: its version and its render key. A URL without a render key identifies the data, but
/// not the style.
package struct FrameRevision: Sendable, Hashable {
    package var version: Version
    package var renderKey: RenderKey?

    package init(version: Version, renderKey: RenderKey? = nil) {
        self.version = version
        self.renderKey = renderKey
    }

    /// The query parameters that identify the revision.
    package var parameters: [String: String] {
        ["v": version.description].merging(renderKey.map { ["s": $0.description] } ?? [:]) { version, _ in version }
    }

    /// The revision as a path of `/public/weather-maps.json`.
    package static func weatherMapPath(layer: String, time: String, _ revision: FrameRevision) -> String {
        "/v2/radar/"
            + [layer, time, revision.version.description, revision.renderKey?.description].compactMap { $0 }
            .joined(separator: "-")
    }
}

extension FrameSource {
    /// The render key of frames in a style.
    package func renderKey(_ style: Style, in snapshot: Snapshot) -> RenderKey {
        RenderKey(
            log: snapshot.log, style: style, severityTable: snapshot.severityTable,
            trafficDropSeconds: lifetimes.trafficDropSeconds)
    }
}
