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
        case .text(let export): try await file(of: export, check)
        case .file(let export): try await file(of: export, check)
        }
    }

    private func file(
        of export: FeatureExport, _ check: @Sendable (Progress, FileWriter) throws -> Void
    ) async throws -> ExportedFile {
        let (file, _) = try place.open { _, _ in }
        var pieces = export.parts(isAhead: true, in: place)
        let hash = SHA256()
        var size = 0
        while true {
            // Several clients may wait for the file, so it does not end with the client that started it.
            let (rest, piece) = try await work.run(workClass, isContinuing: true) { [pieces] in
                var pieces = pieces
                let piece = try await pieces.next()
                return (pieces, piece)
            }
            guard let piece else { break }
            pieces = rest
            try check(Progress(items: pieces.features, bytes: size + piece.count + pieces.spooledBytes), file)
            hash.update(piece)
            try await NIOThreadPool.singleton.runIfActive { [size] in try file.write(piece, at: size) }
            size += piece.count
        }
        return ExportedFile(file, size: size, entityTag: Self.entityTag(hash))
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
        let hash = SHA256()
        var size = 0
        while true {
            let bytes = try await NIOThreadPool.singleton.runIfActive { [size] in
                try file.read(Self.hashedBytes, at: size)
            }
            guard !bytes.isEmpty else { break }
            hash.update(bytes)
            size += bytes.count
        }
        return ExportedFile(file, size: size, entityTag: Self.entityTag(hash))
    }

    private static let hashedBytes = 1 << 20

    private static func entityTag(_ hash: consuming SHA256) -> String { Hexadecimal.text(hash.finalize().prefix(16)) }
}
