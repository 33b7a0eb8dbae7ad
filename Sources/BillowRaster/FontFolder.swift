import Foundation

/// Where DejaVu Sans is, the font of legends, maps and profiles.
package enum FontFolder {
    package static let regular = "DejaVuSans.ttf"
    package static let bold = "DejaVuSans-Bold.ttf"
    /// The folder of Debian's package `fonts-dejavu-core`.
    package static let debian = "/usr/share/fonts/truetype/dejavu"

    /// The folder for this process.
    static let path = find(executable: Bundle.main.executablePath ?? "")

    /// The folder of the installation that an executable belongs to (`bin/billow` and `share/billow/Fonts`) if it has
    /// both fonts, otherwise Debian's.
    package static func find(executable: String) -> String {
        let bin = URL(filePath: executable).resolvingSymlinksInPath().deletingLastPathComponent()
        let installed = bin.deletingLastPathComponent().appending(path: "share/billow/Fonts").path
        let hasBoth = [regular, bold].allSatisfy { FileManager.default.fileExists(atPath: "\(installed)/\($0)") }
        return hasBoth ? installed : debian
    }
}
