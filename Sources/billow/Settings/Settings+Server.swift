import BillowEngine
import BillowHTTP
import BillowPostgreSQL
import Foundation
import Turbulence
import UpstreamKit

extension Settings {
    struct Server: Sendable {
        var host = "127.0.0.1"
        var port = 8_080
        /// The file that contains the port while the server listens; nil for none.
        var portFile: String?
        /// The base address of links in answers; nil uses the address of the request.
        var publicURL: String?
        /// The hosts that requests may name.
        var allowedHosts = AllowedHosts()
        /// The viewer's base map of another server; nil for none.
        var baseMap: OnlineBaseMap?
        /// The folder of the viewer.
        var publicFolder = SharedFolder.viewer.path
        /// The folder of the styles.
        var stylesFolder = SharedFolder.styles.path
        /// The proxies whose words about their clients are believed.
        var trustedProxies: [AddressBlock] = []
        var rateLimit = RateLimitSettings()
        /// The certificate and key for TLS; nil serves without TLS.
        var tls: TLSFiles?
        /// Whether routes that show data are open without a key.
        var anonymousRead = true
        /// The most concurrent connections. A lower limit of descriptors reduces it.
        var maxConnections = ConnectionSettings.defaultMaximum
        /// The most concurrent connections from one address other than this machine's; 0 for no limit, nil for half of
        /// all.
        var maxConnectionsPerAddress: Int?
        var timeouts = ConnectionSettings()
        /// The most sources that one key may name in its observations.
        var ingestSourcesPerKey = 4
        /// The limits of export jobs; the folder is that of the database file unless it is given.
        var exportJobs = ExportJobSettings()
    }
}

extension Settings.Server {
    /// The rules for connections, with the permitted number of descriptors.
    func connections(descriptorLimit limit: Int, used: Int) -> ConnectionSettings {
        var settings = timeouts
        settings.maximum = FileDescriptors.connections(wanted: maxConnections, limit: limit, used: used)
        let perAddress = maxConnectionsPerAddress ?? max(1, settings.maximum / 2)
        settings.maximumPerAddress = perAddress == 0 ? nil : perAddress
        settings.trustedProxies = trustedProxies
        settings.rateLimit = rateLimit.ofAddress
        return settings
    }
}

extension Settings.Server {
    /// The permitted and the used descriptors of this process.
    static var descriptors: (limit: Int, used: Int) { (FileDescriptors.raiseLimit(), FileDescriptors.used()) }

    /// The number of connections for a limit of descriptors.
    static func connections(wanted: Int, limit: Int, used: Int) -> Int {
        FileDescriptors.connections(wanted: wanted, limit: limit, used: used)
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
        portFile = section.text("portFile", expected: "the path of a file")
        publicURL = section.value("publicURL", expected: "an http or https address without user, query and fragment") {
            BaseURL.problems($0, allowsPlainHTTP: true).isEmpty ? $0 : nil
        }
        allowedHosts = AllowedHosts(
            section.list(
                "allowedHosts", expected: "hosts such as map.example.com, *.example.com or 192.0.2.1:8080",
                AllowedHosts.Pattern.init) ?? [])
        baseMap = section.value(
            "baseMap", expected: "an http or https address with {z}, {x} and {y}, without user and fragment"
        ) { OnlineBaseMap(tiles: $0) }
        if let text = section.text("baseMapAttribution", expected: "a text") { baseMap?.attribution = text }
        publicFolder = section.text("publicFolder", expected: "the path of a folder") ?? publicFolder
        stylesFolder = section.text("stylesFolder", expected: "the path of a folder") ?? stylesFolder
        tls = TLSFiles(section.section("tls"))
        trustedProxies =
            section.list("trustedProxies", expected: "IP addresses, or ranges such as 10.0.0.0/8", AddressBlock.init)
            ?? trustedProxies
        rateLimit = RateLimitSettings(section.section("rateLimit"))
        anonymousRead = section.flag("anonymousRead") ?? anonymousRead
        maxConnections = section.integer("maxConnections", in: 16...1_000_000) ?? maxConnections
        maxConnectionsPerAddress = section.integer("maxConnectionsPerAddress", in: 0...1_000_000)
        timeouts.read(section.section("timeouts"))
        ingestSourcesPerKey = section.integer("ingestSourcesPerKey", in: 1...64) ?? ingestSourcesPerKey
        section.finish()
    }
}

extension Settings.Server {
    /// Reads the section `exports`.
    ///
    /// - Parameter database: the database. The folder of a file is the default; for PostgreSQL it is that of temporary
    ///   files.
    mutating func readExports(_ section: SettingsReader.Section, database: String) {
        let folder = section.value("folder", expected: "an existing folder") {
            FileManager.default.isFolder($0) ? $0 : nil
        }
        let beside = DatabaseAddress(database) == nil ? URL(fileURLWithPath: database).deletingLastPathComponent() : nil
        exportJobs.folder = folder ?? (beside ?? FileManager.default.temporaryDirectory).path
        if let megabytes = section.integer("diskMegabytes", in: 1...1_048_576, unit: "megabytes") {
            exportJobs.diskBytes = megabytes << 20
        }
        exportJobs.keepSeconds =
            section.duration("keep", from: 60, to: 604_800, expected: "from 1 minute to 7 days, such as PT1H")
            ?? exportJobs.keepSeconds
        section.finish()
    }

    /// The folder of the files of export jobs.
    var exportFolder: String { exportJobs.folder }

    /// Records a certificate or key that can't be used as a problem of its setting.
    func checkCertificate(_ section: SettingsReader.Section) {
        guard let files = tls else { return }
        do throws(TLSProblem) { _ = try TLSIdentity(files) } catch {
            let name = error.path == files.certificate ? "certificate" : "key"
            section.problem(name, "is '\(error.path)'; \(error.reason)", kind: .inputOutput)
        }
    }
}

/// The validity of the server's certificate.
struct CertificateValidity: Sendable {
    /// The certificate's file.
    let path: String
    let expires: Instant
    /// Why clients refuse the certificate, or will soon; nil if they accept it.
    let warning: String?

    /// - Parameter files: nil without TLS.
    /// - Returns: nil without TLS, and for files that can't be used (`checkCertificate`).
    init?(_ files: TLSFiles?, at now: Instant) {
        guard let files, let identity = try? TLSIdentity(files) else { return nil }
        path = files.certificate
        expires = identity.expires
        warning = identity.warning(at: now)
    }
}

/// The limits of requests a second; 0 for none.
struct RateLimitSettings: Sendable {
    var perAddress = 0
    var perKey = 0
    /// The time whose requests may come at once, in seconds.
    var burstSeconds = 10

    var ofAddress: RateLimit? { limit(perAddress) }
    var ofKey: RateLimit? { limit(perKey) }

    private func limit(_ perSecond: Int) -> RateLimit? {
        perSecond == 0 ? nil : RateLimit(perSecond: perSecond, burst: perSecond * burstSeconds)
    }
}

extension RateLimitSettings {
    init(_ section: SettingsReader.Section) {
        self.init()
        perAddress = section.integer("perAddress", in: 0...100_000) ?? perAddress
        perKey = section.integer("perKey", in: 0...100_000) ?? perKey
        burstSeconds =
            section.duration("burst", from: 1, to: 3_600, expected: "from 1 second to 1 hour, such as PT10S")
            ?? burstSeconds
        section.finish()
    }
}

extension TLSFiles {
    /// nil if neither file is given.
    init?(_ section: SettingsReader.Section) {
        let certificate = section.text("certificate", expected: "the path of a file")
        let key = section.text("key", expected: "the path of a file")
        section.finish()
        if certificate != nil || key != nil {
            section.require("certificate")
            section.require("key")
        }
        guard let certificate, let key else { return nil }
        self.init(certificate: certificate, key: key)
    }
}

extension ConnectionSettings {
    fileprivate mutating func read(_ section: SettingsReader.Section) {
        func timeout(_ name: String) -> Duration? {
            section.duration(name, from: 1, to: 3_600, expected: "from 1 second to 1 hour, such as PT30S")
                .map { .seconds($0) }
        }
        headerTimeout = timeout("header") ?? headerTimeout
        bodyTimeout = timeout("body") ?? bodyTimeout
        wholeBodyTimeout = timeout("wholeBody") ?? wholeBodyTimeout
        writeTimeout = timeout("write") ?? writeTimeout
        idleTimeout = timeout("idle") ?? idleTimeout
        section.finish()
    }
}
