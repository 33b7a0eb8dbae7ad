package import BillowRaster
package import BillowSnapshot
import BillowTiles
package import Turbulence

/// What the picture of a frame depends on besides its version: the log that the version is of, and all that turns what is in
/// it into pixels. An address that names both shows the same for ever, whatever is configured later; servers with the same
/// settings and the same log agree.
package struct PictureLook: Sendable, Hashable, CustomStringConvertible {
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

/// What of a frame its address names: its version, and what that looks like here. The latter may be missing; then the
/// address promises the data, in whatever style.
package struct FrameName: Sendable, Hashable {
    package var version: Version
    package var look: PictureLook?

    package init(
        version: Version, look: PictureLook? = nil
    ) {
        self.version = version
        self.look = look
    }

    /// The parameters of an address that say it.
    package var parameters: [String: String] {
        ["v": version.description].merging(look.map { ["s": $0.description] } ?? [:]) { version, _ in version }
    }

    /// The same as a path of `/public/weather-maps.json`.
    package static func weatherMapPath(layer: String, time: String, _ name: FrameName) -> String {
        "/v2/radar/"
            + [layer, time, name.version.description, name.look?.description].compactMap { $0 }.joined(separator: "-")
    }
}

extension FrameSource {
    /// What pictures in a style look like.
    package func look(_ style: Style, in snapshot: Snapshot) -> PictureLook {
        PictureLook(
            log: snapshot.log, style: style, severityTable: snapshot.severityTable,
            trafficDropSeconds: trafficDropSeconds)
    }
}
