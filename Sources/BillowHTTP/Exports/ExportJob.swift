import BillowEngine
import BillowPacks
import Foundation
import HTTPTypes
import Turbulence

/// An export that the server makes in the background, for a client that asks for it later.
struct ExportJob: Sendable {
    /// Source: OGC 18-062r2 (OGC API – Processes – Part 1) section 7.12, `statusCode`
    enum Status: String, Sendable, CaseIterable {
        case accepted, running, successful, failed, dismissed

        /// Whether it will not change any more.
        var isFinal: Bool { ![.accepted, .running].contains(self) }
    }

    /// Who shares a limit of jobs.
    enum Owner: Hashable, Sendable {
        case key(String)
        case address(ClientAddress)
        /// Clients of this machine, among them those behind a proxy on it.
        case thisMachine
    }

    /// 128 random bits, which only the client that made the job learns.
    let id: String
    let owner: Owner
    /// The path and query of the export.
    let address: String
    /// Reads the request against the current snapshot, when the job begins.
    let prepare: @Sendable () async throws -> PreparedExport
    let created: Instant

    var status = Status.accepted
    var started: Instant?
    var finished: Instant?
    /// When the job and its file are removed; nil before it is finished.
    var expires: Instant?
    /// The version of the snapshot that the export shows.
    var version: Int64?
    var progress = ExportFileMaker.Progress()
    /// The headers of the result.
    var headers: HTTPFields = [:]
    var file: ExportedFile?
    var problem: Problem?
}

/// The limits of export jobs.
package struct ExportJobSettings: Sendable, Hashable {
    /// The folder of the files.
    package var folder: String
    /// The most bytes of all files.
    package var diskBytes: Int
    /// The time after its end for which a job and its file are held.
    package var keepSeconds: Int

    package init(folder: String = NSTemporaryDirectory(), diskBytes: Int = 4 << 30, keepSeconds: Int = 3_600) {
        self.folder = folder
        self.diskBytes = diskBytes
        self.keepSeconds = keepSeconds
    }

    /// The most jobs of one owner that are not yet removed, and of all owners.
    static let maximumPerOwner = 4
    static let maximum = 64
    /// The jobs that run side by side, each of another owner.
    static let maximumConcurrent = 2
    /// The bytes of the disk that jobs leave to the database.
    static let reserveBytes = 512 << 20
}
