package import BillowRaster
package import BillowSnapshot
import BillowTiles
package import Turbulence

/// What the picture of a frame depends on besides its version: the log that the version is of, and all that turns what
/// is in it into pixels. An address that names both shows the same for ever, whatever is configured later; servers with
/// the same settings and the same log agree.
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

    /// nil unless it is 16 hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 16, text.allSatisfy({ "0123456789abcdef".contains($0) }) else { return nil }
        description = text
    }
}

/// What of a frame its address names: its version, and its render key. Without a render key the address promises the
/// data, in whatever style.
package struct FrameRevision: Sendable, Hashable {
    package var version: Version
    package var renderKey: RenderKey?

    package init(version: Version, renderKey: RenderKey? = nil) {
        self.version = version
        self.renderKey = renderKey
    }

    /// The parameters of an address that name it.
    package var parameters: [String: String] {
        ["v": version.description].merging(renderKey.map { ["s": $0.description] } ?? [:]) { version, _ in version }
    }

    /// The same as a path of `/public/weather-maps.json`.
    package static func weatherMapPath(layer: String, time: String, _ revision: FrameRevision) -> String {
        "/v2/radar/"
            + [layer, time, revision.version.description, revision.renderKey?.description].compactMap { $0 }
            .joined(separator: "-")
    }
}

extension FrameSource {
    /// The render key of pictures in a style.
    package func renderKey(_ style: Style, in snapshot: Snapshot) -> RenderKey {
        RenderKey(
            log: snapshot.log, style: style, severityTable: snapshot.severityTable,
            trafficDropSeconds: trafficDropSeconds)
    }
}
