import Foundation
package import Logging
import NIOSSL
import ServiceLifecycle
import Synchronization
package import Turbulence

/// The certificate of the server, which is read again when its files change. Open connections keep theirs.
package final class TLSCertificates: Service {
    /// What changes when a file is replaced or written.
    private struct FileState: Equatable {
        /// The file that the path leads to. Tools that renew certificates change links.
        var target: String
        var number: Int?
        var bytes: Int?
        var changedAt: Date?

        /// nil if there is no file.
        init?(_ path: String) {
            target = URL(filePath: path).resolvingSymlinksInPath().path
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else { return nil }
            number = attributes[.systemFileNumber] as? Int
            bytes = attributes[.size] as? Int
            changedAt = attributes[.modificationDate] as? Date
        }
    }

    private struct Current {
        var identity: TLSIdentity
        var files: [FileState?]
        /// Whether the last read failed.
        var hasFailed = false
    }

    private let files: TLSFiles
    private let now: @Sendable () -> Instant
    private let logger: Logger
    private let current: Mutex<Current>

    /// The interval between two looks at the files.
    private static let interval = Duration.seconds(10)

    package init(_ files: TLSFiles, now: @escaping @Sendable () -> Instant, logger: Logger) throws(TLSProblem) {
        self.files = files
        self.now = now
        self.logger = logger
        let states = Self.states(files)
        current = Mutex(Current(identity: try TLSIdentity(files), files: states))
        warn()
    }

    var context: NIOSSLContext { current.withLock { $0.identity.context } }

    package var expires: Instant { current.withLock { $0.identity.expires } }

    private static func states(_ files: TLSFiles) -> [FileState?] {
        [FileState(files.certificate), FileState(files.key)]
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while true {
                // Ends only by the shutdown.
                do { try await Task.sleep(for: Self.interval) } catch { return }
                self.reloadIfChanged()
            }
        }
    }

    /// Reads the files again if one of them has changed since the last time. Files that can't be used are reported, and
    /// the certificate stays. Of two files that are replaced one after the other, the first alone can't be used.
    package func reloadIfChanged() {
        let states = Self.states(files)
        guard current.withLock({ $0.files != states }) else { return }
        do throws(TLSProblem) {
            let identity = try TLSIdentity(files)
            current.withLock { $0 = Current(identity: identity, files: states) }
            logger.notice("the certificate was read again", metadata: ["validUntil": "\(identity.expires)"])
            warn()
        } catch {
            let hadFailed = current.withLock { current in
                defer { current.hasFailed = true }
                current.files = states
                return current.hasFailed
            }
            if !hadFailed {
                logger.error("the certificate has changed and can't be used; the former one stays: \(error)")
            }
        }
    }

    private func warn() {
        if let warning = current.withLock({ $0.identity.warning(at: now()) }) { logger.warning("\(warning)") }
    }
}
