import Foundation
import NIOSSL
package import Turbulence

/// The files of a server's certificate and its key, both PEM.
package struct TLSFiles: Sendable, Hashable {
    /// The certificate, followed by the intermediate ones.
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// Files that can't be used for TLS.
package struct TLSProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package var path: String
    package var reason: String

    package var description: String { "\(path): \(reason)" }
}

/// A certificate with its key, as connections use them.
package struct TLSIdentity: Sendable {
    /// The name of HTTP/2 in the negotiation.
    ///
    /// Source: RFC 9113 section 3.2
    static let http2 = "h2"

    let context: NIOSSLContext
    /// The beginning of the certificate's validity.
    package let begins: Instant
    /// The end of the certificate's validity.
    package let expires: Instant

    /// Reads and checks both files.
    /// - Throws: `TLSProblem` if a file can't be read, isn't PEM, or the key isn't that of the certificate.
    package init(_ files: TLSFiles) throws(TLSProblem) {
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMBytes(try Self.bytes(files.certificate)) } catch let problem
            as TLSProblem
        { throw problem } catch { throw TLSProblem(path: files.certificate, reason: "it has no certificate in PEM") }
        guard let first = certificates.first else {
            throw TLSProblem(path: files.certificate, reason: "it has no certificate in PEM")
        }
        let key: NIOSSLPrivateKey
        do {
            // A key with a passphrase would be asked for on the terminal.
            key = try NIOSSLPrivateKey(bytes: try Self.bytes(files.key), format: .pem) { setter in setter([UInt8]()) }
        } catch let problem as TLSProblem { throw problem } catch {
            throw TLSProblem(path: files.key, reason: "it has no key in PEM that can be read without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
        // Source: RFC 8996 (older versions must not be used)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = [Self.http2, "http/1.1"]
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw TLSProblem(path: files.key, reason: "it is not the key of the certificate in \(files.certificate)")
        }
        begins = Instant(clamping: Int(first.notValidBefore))
        expires = Instant(clamping: Int(first.notValidAfter))
    }

    /// A certificate that ends within this time is reported: half of what Let's Encrypt's clients leave.
    private static let soonSeconds = 14 * 86_400

    /// Why clients refuse the certificate at a time, or will soon; nil if they accept it.
    package func warning(at now: Instant) -> String? {
        if now < begins { return "the certificate is not valid before \(begins)" }
        if now > expires { return "the certificate is no longer valid since \(expires)" }
        return expires.seconds - now.seconds < Self.soonSeconds ? "the certificate is only valid until \(expires)" : nil
    }

    private static func bytes(_ path: String) throws(TLSProblem) -> [UInt8] {
        do { return Array(try Data(contentsOf: URL(filePath: path))) } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw TLSProblem(
                path: path,
                reason: isThere ? "it can't be read: \(error.localizedDescription)" : "there is no such file")
        }
    }
}
