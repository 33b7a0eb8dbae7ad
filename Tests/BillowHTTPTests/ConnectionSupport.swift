import Foundation
import NIOCore

@testable import BillowHTTP

extension ConnectionSettings {
    /// Deadlines that no test reaches, but for those that it sets.
    static func patient(maximum: Int = 64, _ change: (inout Self) -> Void = { _ in }) -> Self {
        var settings = Self(maximum: maximum)
        settings.headerTimeout = .seconds(3_600)
        settings.bodyTimeout = .seconds(3_600)
        settings.wholeBodyTimeout = .seconds(3_600)
        settings.writeTimeout = .seconds(3_600)
        settings.idleTimeout = .seconds(3_600)
        settings.lingerTimeout = .milliseconds(100)
        change(&settings)
        return settings
    }
}

/// A folder with one file of so many bytes.
final class FolderOfOne: Sendable {
    let path: String

    init(_ name: String, bytes: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 % 10 + 48) }).write(to: folder.appending(path: name))
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
