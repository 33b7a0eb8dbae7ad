import Foundation

/// A file that is read in pieces; `-` is standard input.
package struct ImportFile: ~Copyable {
    /// The progress of reading.
    package struct Progress: Sendable, Hashable {
        package var bytesRead: Int
        /// nil for a file of unknown length, such as a pipe.
        package var totalBytes: Int?

        /// The read fraction, 0…1; nil for a file of unknown length.
        package var fraction: Double? {
            totalBytes.map { $0 > 0 ? min(Double(bytesRead) / Double($0), 1) : 1 }
        }
    }

    package let path: String
    package private(set) var progress: Progress
    private let handle: FileHandle

    /// The size of a piece in bytes: a few hundred records, a few dozen times a second.
    package static let pieceBytes = 256 << 10

    /// - Throws: if the file can't be opened, with the path and the reason.
    package init(path: String) throws(ImportFileError) {
        self.path = path
        if path == "-" {
            handle = .standardInput
            progress = Progress(bytesRead: 0, totalBytes: nil)
            return
        }
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType != .typeDirectory else {
                throw ImportFileError(path: path, reason: "it is a folder")
            }
            let isRegular = attributes[.type] as? FileAttributeType == .typeRegular
            handle = try FileHandle(forReadingFrom: URL(filePath: path))
            progress = Progress(bytesRead: 0, totalBytes: isRegular ? (attributes[.size] as? Int) : nil)
        } catch let error as ImportFileError { throw error } catch {
            throw ImportFileError(path: path, reason: ImportFileError.reason(error))
        }
    }

    /// The next piece; nil at the end.
    package mutating func next() throws(ImportFileError) -> [UInt8]? {
        let data: Data?
        do { data = try handle.read(upToCount: ImportFile.pieceBytes) } catch {
            throw ImportFileError(path: path, reason: ImportFileError.reason(error))
        }
        guard let data, !data.isEmpty else { return nil }
        progress.bytesRead += data.count
        return [UInt8](data)
    }

    deinit {
        // No data was written, so a failed close loses nothing.
        if path != "-" { try? handle.close() }
    }
}

/// A failed read of a file.
package struct ImportFileError: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: String
    /// The system's message.
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path) can't be read: \(reason)" }

    fileprivate static func reason(_ error: any Error) -> String {
        let error = error as NSError
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(truncatingIfNeeded: cause.code)))
        }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "no such file"
        case .fileReadNoPermission: return "no permission"
        default: return error.localizedDescription
        }
    }
}
