import WireHTTP

extension Settings {
    struct Server: Sendable {
        var host = "127.0.0.1"
        var port = 8_080
        /// Where links in answers point to; nil takes the address that the request came to.
        var publicURL: String?
        /// The folder of the viewer.
        var publicFolder = "Public"
        /// The folder of the styles.
        var stylesFolder = "Styles"
        /// Whether what shows data is open without a key.
        var anonymousRead = true
        /// How many sources one key may name in the observations that it sends.
        var ingestSourcesPerKey = 4
    }
}

extension Settings.Server {
    init(_ section: SettingsReader.Section) {
        self.init()
        host =
            section.value("host", expected: "a host's name or address, without port and path") { text in
                !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
                    ? text : nil
            } ?? host
        port = section.integer("port", in: 0...65_535) ?? port
        publicURL = section.value("publicURL", expected: "an http or https address without user, query and fragment") {
            BaseURL.problems($0, allowsPlainHTTP: true).isEmpty ? $0 : nil
        }
        publicFolder = section.text("publicFolder", expected: "the path of a folder") ?? publicFolder
        stylesFolder = section.text("stylesFolder", expected: "the path of a folder") ?? stylesFolder
        anonymousRead = section.flag("anonymousRead") ?? anonymousRead
        ingestSourcesPerKey = section.integer("ingestSourcesPerKey", in: 1...64) ?? ingestSourcesPerKey
        section.finish()
    }
}
