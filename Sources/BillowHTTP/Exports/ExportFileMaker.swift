import BillowEngine
import BillowPacks
import Digests
import NIOPosix

/// Makes the files of exports, part by part. Each part is a job of its own, so that an export of any size delays
/// nothing else for long.
struct ExportFileMaker: Sendable {
    /// What is written so far.
    struct Progress: Sendable, Hashable {
        /// Features or tiles.
        var items = 0
        /// The bytes of the file, and of temporary files beside it.
        var bytes = 0
    }

    let work: WorkExecutor
    let workClass: WorkClass
    /// Where the file is made.
    let place: FileDestination

    /// - Parameter check: called after each part with the file; an error ends the export, and removes the file.
    /// - Throws: the errors of `check`, of reading, and `PackError`.
    func file(
        of export: PreparedExport, check: @Sendable (Progress, FileWriter) throws -> Void
    ) async throws -> ExportedFile {
        switch export.content {
        case .text(let text): try await file(of: text, export.part, check)
        case .file(let file): try await self.file(of: file, check)
        }
    }

    private func file(
        of export: FeatureExport, _ part: (@Sendable (FeatureSource.Cursor) -> String)?,
        _ check: @Sendable (Progress, FileWriter) throws -> Void
    ) async throws -> ExportedFile {
        let (file, _) = try place.open { _, _ in }
        var pieces = export.parts(isAhead: true, in: place)
        let digest = FileDigest()
        var size = 0
        while true {
            // Several clients may wait for the file, so it does not end with the client that started it.
            let (rest, piece) = try await work.run(workClass, isContinuing: true) { [pieces] in
                var pieces = pieces
                let piece = try await pieces.next()
                if let piece { await digest.update(piece) }
                return (pieces, piece)
            }
            guard let piece else { break }
            pieces = rest
            try check(Progress(items: pieces.features, bytes: size + piece.count + pieces.spooledBytes), file)
            try await NIOThreadPool.singleton.runIfActive { [size] in try file.write(piece, at: size) }
            size += piece.count
        }
        return ExportedFile(
            file, size: size, entityTag: try await digest.entityTag(), nextPart: pieces.nextStart.flatMap { part?($0) })
    }

    private func file(
        of export: any FileExport, _ check: @Sendable (Progress, FileWriter) throws -> Void
    ) async throws -> ExportedFile {
        var parts = try await work.run(workClass, isContinuing: true) { [place] in try await export.begin(in: place) }
        var isWhole = false
        while !isWhole {
            let (rest, goesOn, progress) = try await work.run(workClass, isContinuing: true) { [parts] in
                var parts = parts
                let goesOn = try await parts.next()
                return (parts, goesOn, Progress(items: parts.items, bytes: try parts.size))
            }
            try check(progress, rest.file)
            parts = rest
            isWhole = !goesOn
        }
        let file = parts.file
        let digest = FileDigest()
        var size = 0
        while true {
            let count = try await work.run(workClass, isContinuing: true) { [size] in
                let bytes = try file.read(Self.hashedBytes, at: size)
                await digest.update(bytes)
                return bytes.count
            }
            guard count > 0 else { break }
            size += count
        }
        return ExportedFile(file, size: size, entityTag: try await digest.entityTag())
    }

    /// The bytes that are read and hashed in one job.
    private static let hashedBytes = 4 << 20
}

/// The digest of a file that is made part by part. Like any actor it runs on the threads of the job that calls it.
private actor FileDigest {
    private var hash: SHA256? = SHA256()

    func update(_ bytes: some Collection<UInt8> & Sendable) { hash?.update(bytes) }

    /// The entity tag of all bytes, without quotes. Ends the digest.
    /// - Throws: `EngineError.cancelled` if it has ended before.
    func entityTag() throws(EngineError) -> String {
        guard let hash = hash.take() else { throw .cancelled }
        return Hexadecimal.text(hash.finalize().prefix(16))
    }
}
