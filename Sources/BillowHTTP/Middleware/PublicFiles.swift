import BillowEngine
import Digests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import Synchronization

/// Serves the files of a folder without authorisation: the viewer.
///
/// Small files are cached in memory until they change. So a slow client holds no descriptor, and all clients share the
/// bytes. Pages name the files of the current `PublicRelease`.
final class PublicFiles: Sendable {
    struct File: Sendable {
        /// nil for a file that is too large for the cache.
        var bytes: ByteBuffer?
        var size: Int
        var entityTag: String
        /// nil for a file that the server makes.
        var modified: Date?
        var path: String
        /// Whether it is a page with addresses of the release.
        var hasAssets = false

        var isPage: Bool { path.hasSuffix(".html") }
    }

    enum Resource {
        case file(File)
        /// A file of a release, which never changes.
        case asset(File)
        /// A folder that was requested without a trailing slash.
        case folder
    }

    private let folder: String
    private let cache = Mutex<[String: (state: FileState, file: File)]>([:])
    private let release = Mutex<(states: [String: FileState], release: PublicRelease)?>(nil)

    /// The largest cached file, and the size of the cache, in bytes.
    private static let largestCached = 4 << 20
    private static let cacheBytes = 32 << 20
    /// The deepest folder of a release. Symbolic links could make it endless.
    private static let deepest = 8

    /// Generated files, by path.
    private let generated: [String: File]

    /// - Parameter generated: the texts of generated files, by path.
    init(folder: String, generated: [String: String] = [:]) {
        self.folder = folder
        self.generated = Dictionary(uniqueKeysWithValues: generated.map { ($0, File(made: $1, path: $0)) })
    }

    /// The file at a decoded path, the page of that name without its ending, or the index of a folder; nil if there is
    /// none.
    func find(_ path: String) async throws -> Resource? {
        if let file = generated[path] { return .file(file) }
        return try await NIOThreadPool.singleton.runIfActive { [self] in
            guard let (version, path) = PublicRelease.parts(of: path) else { return try resolve(path) }
            return try asset(path, version)
        }
    }

    /// A file of the release. Of another version it is the current file, which the next request may find changed. So a
    /// page that was opened before an update of the server still loads the modules of its later uses.
    private func asset(_ path: String, _ version: Substring) throws -> Resource? {
        let known = try release.withLock { $0?.release } ?? currentRelease()
        if known.version == version { return known.files[path].map { .asset($0) } }
        if let file = generated[path] { return .file(file) }
        guard case .file(let file) = try resolve(path), !file.isPage else { return nil }
        return .file(file)
    }

    private func resolve(_ path: String) throws -> Resource? {
        guard path.hasPrefix("/"), !path.split(separator: "/").contains(".."), !path.contains("\0") else { return nil }
        var place = folder + path
        if !path.hasSuffix("/"), FileState(of: place) == nil { place += ".html" }
        guard var state = FileState(of: place) else { return nil }
        if state.isFolder {
            guard path.hasSuffix("/") else { return .folder }
            place += "index.html"
            guard let index = FileState(of: place), !index.isFolder else { return nil }
            state = index
        }
        let file = try file(at: place, state)
        return .file(file.hasAssets ? try currentRelease().fill(file) : file)
    }

    /// The release of the files as they are now.
    private func currentRelease() throws -> PublicRelease {
        let states = Self.states(in: folder, "", depth: 0)
        if let known = release.withLock({ $0 }), known.states == states { return known.release }
        var files = generated
        for (path, state) in states { files[path] = try file(at: folder + path, state) }
        let made = PublicRelease(files: files)
        release.withLock { $0 = (states, made) }
        return made
    }

    /// The states of the files of a release, by their paths.
    private static func states(in folder: String, _ path: String, depth: Int) -> [String: FileState] {
        guard depth <= deepest, let names = try? FileManager.default.contentsOfDirectory(atPath: folder + path) else {
            return [:]
        }
        var found: [String: FileState] = [:]
        for name in names where !name.hasSuffix(".html") {
            guard let state = FileState(of: "\(folder)\(path)/\(name)") else { continue }
            if state.isFolder {
                found.merge(states(in: folder, "\(path)/\(name)", depth: depth + 1)) { $1 }
            } else if state.size <= largestCached {
                found["\(path)/\(name)"] = state
            }
        }
        return found
    }

    private func file(at place: String, _ state: FileState) throws -> File {
        if let known = cache.withLock({ $0[place] }), known.state == state { return known.file }
        return try read(place, state)
    }

    private func read(_ place: String, _ state: FileState) throws -> File {
        guard state.size <= Self.largestCached else {
            let tag = "\(state.size)-\(Int(state.modified.timeIntervalSince1970 * 1_000))"
            return File(bytes: nil, size: state.size, entityTag: tag, modified: state.modified, path: place)
        }
        let data = try Data(contentsOf: URL(filePath: place))
        let file = File(
            bytes: ByteBuffer(bytes: data), size: data.count,
            entityTag: Hexadecimal.text(SHA256.hash(data).prefix(8)), modified: state.modified, path: place,
            hasAssets: place.hasSuffix(".html") && data.firstRange(of: Data(PublicRelease.placeholder.utf8)) != nil)
        cache.withLock { cache in
            cache[place] = (state, file)
            if cache.values.reduce(0, { $0 + $1.file.size }) > Self.cacheBytes { cache = [place: (state, file)] }
        }
        return file
    }
}

extension PublicFiles.File {
    /// A file of text that the server makes.
    init(made text: String, path: String) {
        let bytes = Array(text.utf8)
        self.init(
            bytes: ByteBuffer(bytes: bytes), size: bytes.count,
            entityTag: Hexadecimal.text(SHA256.hash(bytes).prefix(8)), modified: nil, path: path)
    }
}

/// Serves a file if no route matches the path.
struct PublicFilesMiddleware<Context: RequestContext>: RouterMiddleware {
    let files: PublicFiles
    let pages: PageRules

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let error as HTTPError where error.status == .notFound {
            guard let path = request.uri.path.removingPercentEncoding, let resource = try await files.find(path) else {
                throw error
            }
            guard [.get, .head].contains(request.method) else {
                throw Problem.methodNotAllowed(request, [.get, .head])
            }
            switch resource {
            case .folder: return .redirect(to: "\(request.uri.path)/", type: .permanent)
            case .file(let file): return try await answer(file, "no-cache", request, context)
            case .asset(let file): return try await answer(file, Self.immutable, request, context)
            }
        }
    }

    /// A year.
    ///
    /// Source: RFC 8246 section 2
    private static var immutable: String { "public, max-age=31536000, immutable" }

    private func answer(
        _ file: PublicFiles.File, _ cacheControl: String, _ request: Request, _ context: Context
    ) async throws -> Response {
        var headers = pages.headers
        headers[.eTag] = "\"\(file.entityTag)\""
        headers[.lastModified] = file.modified.map { HTTPDate.text(of: $0) }
        headers[.cacheControl] = cacheControl
        headers[.acceptRanges] = "bytes"
        headers[.contentType] = Self.mediaType(of: file.path)
        // Programs get JSON at the paths of pages.
        if file.isPage { headers.vary(by: "Accept") }
        if isKnown(file, request.headers) { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(file.size)
        guard request.method == .get else { return Response(status: .ok, headers: headers) }
        switch isRangeWanted(file, headers, request.headers)
            ? ByteRange(request.headers[.range], of: file.size) : .whole
        {
        case .whole:
            let body = try await body(of: file, 0..<file.size, context)
            return Response(status: .ok, headers: headers, body: body)
        case .part(let range):
            headers[.contentLength] = String(range.count)
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
            let body = try await body(of: file, range, context)
            return Response(status: .partialContent, headers: headers, body: body)
        case .unsatisfiable:
            return try Problem.unsatisfiableRange(of: file.size, request, context)
        }
    }

    private func isKnown(_ file: PublicFiles.File, _ headers: HTTPFields) -> Bool {
        if headers[.ifNoneMatch] != nil { return EntityTags(headers[.ifNoneMatch]).match(file.entityTag) }
        // Only the exact date matches: a file that was restored from a backup has an older date, but is new.
        return file.modified.map { headers[.ifModifiedSince] == HTTPDate.text(of: $0) } ?? false
    }

    /// Whether `If-Range`, if present, matches the current file.
    private func isRangeWanted(_ file: PublicFiles.File, _ answer: HTTPFields, _ request: HTTPFields) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        return condition == answer[.eTag] || condition == answer[.lastModified]
    }

    private func body(of file: PublicFiles.File, _ range: Range<Int>, _ context: Context) async throws -> ResponseBody {
        guard !range.isEmpty else { return ResponseBody() }
        if let slice = file.bytes?.getSlice(at: range.lowerBound, length: range.count) {
            return ResponseBody(byteBuffer: slice)
        }
        return try await FileIO().loadFile(
            path: file.path, range: range.lowerBound...range.upperBound - 1, context: context)
    }

    private static func mediaType(of path: String) -> String {
        let ending = path.split(separator: "/").last?.split(separator: ".").dropFirst().last.map { $0.lowercased() }
        if let ending, let type = ownTypes[ending] { return type }
        return ending.flatMap { MediaType.getMediaType(forExtension: MediaType.FileExtension($0)) }?.description
            ?? "application/octet-stream"
    }

    /// Media types that Hummingbird doesn't know, and text types with their encoding.
    private static var ownTypes: [String: String] {
        [
            "geojson": "application/geo+json", "webmanifest": "application/manifest+json",
            "md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
            "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
            "txt": "text/plain; charset=utf-8", "svg": "image/svg+xml", "json": "application/json",
            "pbf": "application/x-protobuf", "ts": "text/plain; charset=utf-8",
        ]
    }
}

/// The Content-Security-Policy of the server's pages: they may load only what they need from this server. Pages of
/// other servers may not embed them. No referrer is sent to other servers, because a URL may contain a signature.
///
/// Source: W3C Content Security Policy Level 3; MapLibre GL JS documentation ("CSP directives")
struct PageRules: Sendable {
    let headers: HTTPFields

    /// - Parameters:
    ///   - publicURL: the base URL of links in responses, which the viewer follows.
    ///   - baseMap: a base map of another server, whose tiles the viewer requests.
    init(publicURL: String?, baseMap: OnlineBaseMap? = nil) {
        let origins = [Self.origin(of: publicURL), baseMap?.origin].compactMap { $0 }
        let own = (["'self'"] + origins).joined(separator: " ")
        let policy = [
            "default-src 'none'", "script-src 'self'", "worker-src 'self' blob:", "child-src 'self' blob:",
            "style-src 'self'", "img-src \(own) data: blob:", "connect-src \(own)", "font-src 'self'",
            "manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'",
        ]
        headers = [
            .contentSecurityPolicy: policy.joined(separator: "; "), .xFrameOptions: "SAMEORIGIN",
            .referrerPolicy: "no-referrer",
        ]
    }

    private static func origin(of address: String?) -> String? {
        guard let url = address.flatMap({ URL(string: $0) }), let scheme = url.scheme, let host = url.host() else {
            return nil
        }
        return "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    }
}

extension HTTPField.Name {
    static let xFrameOptions = Self.make("X-Frame-Options")
    static let referrerPolicy = Self.make("Referrer-Policy")
}
