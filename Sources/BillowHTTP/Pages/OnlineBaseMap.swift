import Foundation

/// A raster base map of another server. The viewer shows it over its own land, which stays where a tile is missing.
package struct OnlineBaseMap: Sendable, Equatable {
    /// The template of the tiles in Web Mercator, with `{z}`, `{x}` and `{y}`.
    package let tiles: String
    /// The scheme, host and port of the tiles, which the viewer's pages may request.
    package let origin: String
    /// The text that the map shows for it.
    package var attribution: String

    /// nil unless the template is an http or https address of printable ASCII with `{z}`, `{x}` and `{y}` in its path
    /// or query, and without user and fragment. The attribution is the host until it is set.
    package init?(tiles: String) {
        let filled = tiles.replacing("{z}", with: "0").replacing("{x}", with: "0").replacing("{y}", with: "0")
        guard ["{z}", "{x}", "{y}"].allSatisfy({ tiles.contains($0) }), !filled.contains("#"),
            filled.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: filled), let scheme = url.scheme, ["http", "https"].contains(scheme),
            url.user() == nil, let host = url.host(), !host.isEmpty,
            // Another character could end the host in a Content-Security-Policy.
            host.utf8.allSatisfy({ Self.hostCharacters.contains($0) })
        else { return nil }
        self.tiles = tiles
        origin = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
        // The placeholders may not be in the host.
        guard tiles.hasPrefix(origin) else { return nil }
        attribution = "Base map: \(host)"
    }

    private static let hostCharacters = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-".utf8)
}
