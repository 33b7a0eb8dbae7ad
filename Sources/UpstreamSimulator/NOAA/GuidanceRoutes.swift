import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of the simulator of NOAA's server, below `/pub/data/nccf/com/`. It has directories, files and indexes of
/// GTG and GTGN, with range and conditional requests. HTTP/1.1 only, as the whole simulator.
///
/// Source: docs/upstreams/noaa.md
struct GuidanceRoutes: Sendable {
    private let state: SimulatorState
    private let transport: Transport
    private let archive: GuidanceArchive
    private let content: any GuidanceContent
    private let schedule: GuidanceSchedule
    private let ban: GuidanceBan
    private let banAnswer: GuidanceSimulation.BanAnswer

    private static let root = "/pub/data/nccf/com/"

    init(_ simulation: GuidanceSimulation, state: SimulatorState, transport: Transport) {
        self.state = state
        self.transport = transport
        content = simulation.content
        archive = GuidanceArchive(simulation.content, capacity: simulation.cachedFiles)
        schedule = GuidanceSchedule(growthSeconds: simulation.growthSeconds, indexed: simulation.indexed)
        banAnswer = simulation.banAnswer
        ban = GuidanceBan(limit: simulation.requestsPerMinute, seconds: simulation.banSeconds)
    }

    func add(to router: Router<SimulatorContext>) {
        // The second pattern doesn't match the root itself.
        for path: RouterPath in ["pub/data/nccf/com", "pub/data/nccf/com/**"] {
            router.get(path) { request, context in await answer(request, context) }
            router.head(path) { request, context in await answer(request, context).createHeadResponse() }
        }
    }

    // MARK: The exchange

    private func answer(_ request: Request, _ context: SimulatorContext) async -> Response {
        let fault = state.faultOfCall(of: .noaa)
        if ban.refuses(now: state.now) {
            let status: HTTPResponse.Status =
                switch banAnswer {
                case .forbidden: .forbidden
                case .redirect: .found
                case .page: .ok
                }
            return refusal(status, "Over Rate Limit. See https://www.weather.gov/abusive-user-block")
        }
        if let response = refusal(of: fault) { return response }
        let path = request.uri.path
        let parts = path.dropFirst(Self.root.count).split(separator: "/").map(String.init)
        let now = state.now - (fault == .lateFiles ? 3_600 : 0)
        if path.hasSuffix("/") { return await directory(path, parts, fault, request, context, now: now) }
        guard fault != .empty, let name = parts.last,
            let entry = schedule.entries(of: Array(parts.dropLast()), now: now)?.first(where: { $0.name == name })
        else { return refusal(.notFound, "The requested URL was not found on this server.") }
        guard let file = entry.file else {
            // The path is a folder without its trailing slash.
            return Response(status: .movedPermanently, headers: [.location: path + "/"])
        }
        if entry.isIndex {
            guard fault != .missingIndex, fault != .growingFile else { return refusal(.notFound, "Not found") }
            return await index(of: file, fault, request, context, now: now)
        }
        return await self.file(file, fault, request, context, now: now)
    }

    private func refusal(_ status: HTTPResponse.Status, _ words: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=iso-8859-1"],
            body: ResponseBody(
                byteBuffer: ByteBuffer(
                    string: "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head><title>\(status.code) "
                        + "\(status.reasonPhrase)</title></head><body><p>\(words)</p></body></html>\n")))
    }

    private func refusal(of fault: Fault?) -> Response? {
        switch fault {
        case .unauthorized, .forbidden, .locked, .sessionRevoked: return refusal(.forbidden, "Access denied")
        case .rateLimited:
            var response = refusal(.tooManyRequests, "Too many requests")
            response.headers[.retryAfter] = "60"
            return response
        case .serverError: return refusal(.internalServerError, "Something went wrong")
        case .unavailable:
            var response = refusal(.serviceUnavailable, "Down for maintenance")
            response.headers[.retryAfter] = HTTPDate.text(state.now + 120)
            return response
        case .redirected:
            return Response(status: .found, headers: [.location: "http://elsewhere.invalid/pub/data/nccf/com/"])
        default: return nil
        }
    }

    // MARK: Directories and indexes

    private func directory(
        _ path: String, _ parts: [String], _ fault: Fault?, _ request: Request, _ context: SimulatorContext, now: Int
    ) async -> Response {
        guard var entries = schedule.entries(of: parts, now: now) else { return refusal(.notFound, "Not found") }
        if fault == .empty { entries = [] }
        if fault == .missingIndex || fault == .growingFile { entries.removeAll { $0.isIndex } }
        let rows = entries.map { entry in
            GuidancePage.Row(
                name: entry.name, isDirectory: entry.file == nil,
                modifiedSeconds: entry.file.map { modified($0, fault, now: now) } ?? now,
                // The sizes are constants: files are made when they are first read, and a page must not make hundreds.
                size: entry.file == nil ? "-" : entry.isIndex ? "15K" : entry.file?.product == .gtgn ? "28M" : "158M")
        }
        let page = ByteBuffer(string: GuidancePage.html(path: path, rows))
        return await whole(page, "text/html;charset=UTF-8", Version(modified: now, tag: nil), fault, request, context)
    }

    private func index(
        of file: SimulatedGuidanceFile, _ fault: Fault?, _ request: Request, _ context: SimulatorContext, now: Int
    ) async -> Response {
        let lines = await archive.file(file, fault).index
        let text = ByteBuffer(string: lines.map { $0 + "\n" }.joined())
        return await whole(
            text, "text/plain", version(of: file, bytes: text.readableBytes, fault, now: now), fault, request, context)
    }

    // MARK: Files

    /// The version of a response.
    private struct Version {
        let modified: Int
        let tag: String?
    }

    private func modified(_ file: SimulatedGuidanceFile, _ fault: Fault?, now: Int) -> Int {
        if fault != .growingFile, case .whole(let since) = schedule.stage(of: file, now: now) { return since }
        return now
    }

    /// The version of a file. Its tag is made from time and length, as Apache's, with the version number added.
    private func version(of file: SimulatedGuidanceFile, bytes: Int, _ fault: Fault?, now: Int) -> Version {
        let modified = modified(file, fault, now: now)
        let number = content.version(of: file) + (fault == .replacedFile ? state.calls : 0)
        let tag = "\"\(String(modified, radix: 16))-\(String(bytes, radix: 16))\(number == 0 ? "" : "-\(number)")\""
        return Version(modified: modified + number, tag: tag)
    }

    private func file(
        _ file: SimulatedGuidanceFile, _ fault: Fault?, _ request: Request, _ context: SimulatorContext, now: Int
    ) async -> Response {
        let all = await archive.file(file, fault).bytes
        var share = 1.0
        if case .growing(let part) = schedule.stage(of: file, now: now) { share = part }
        if fault == .growingFile { share = 0.5 }
        let count = Int(Double(all.readableBytes) * share)
        let bytes = all.getSlice(at: all.readerIndex, length: count) ?? ByteBuffer()
        let version = version(of: file, bytes: count, fault, now: now)
        let type = "application/octet-stream"
        guard request.method == .get, fault != .rangeIgnored, let header = request.headers[.range],
            request.headers[.ifRange].map({ $0 == version.tag || $0 == HTTPDate.text(version.modified) }) ?? true
        else { return await whole(bytes, type, version, fault, request, context) }
        guard let range = Self.range(header, count: count) else {
            var response = refusal(.rangeNotSatisfiable, "The range can't be given")
            response.headers[.contentRange] = "bytes */\(count)"
            return response
        }
        let part = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
        let shift = fault == .wrongRange ? 1 : 0
        var response = await send(part, type, version, fault, context)
        if response.headers[.contentType] == type {
            response.status = .partialContent
            response.headers[.contentRange] =
                "bytes \(range.lowerBound + shift)-\(range.upperBound - 1 + shift)/\(count)"
        }
        return response
    }

    /// Parses a single range; nil for several, and for one outside the file.
    ///
    /// Source: RFC 9110 section 14.1.2
    private static func range(_ header: String, count: Int) -> Range<Int>? {
        guard header.hasPrefix("bytes="), !header.contains(",") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let last = Int(ends[1]), last > 0, count > 0 else { return nil }
            return max(0, count - last)..<count
        }
        guard let lower = Int(ends[0]), lower >= 0, lower < count else { return nil }
        if ends[1].isEmpty { return lower..<count }
        guard let last = Int(ends[1]), last >= lower else { return nil }
        return lower..<min(last, count - 1) + 1
    }

    /// A complete response, or a 304.
    private func whole(
        _ bytes: ByteBuffer, _ type: String, _ version: Version, _ fault: Fault?, _ request: Request,
        _ context: SimulatorContext
    ) async -> Response {
        if let tag = version.tag {
            let date = HTTPDate.text(version.modified)
            let isSame = request.headers[.ifNoneMatch].map { $0 == tag } ?? (request.headers[.ifModifiedSince] == date)
            if isSame { return Response(status: .notModified, headers: [.eTag: tag, .lastModified: date]) }
        }
        return await send(bytes, type, version, fault, context)
    }

    private func send(
        _ bytes: ByteBuffer, _ type: String, _ version: Version, _ fault: Fault?, _ context: SimulatorContext
    ) async -> Response {
        var response = await transport.response(bytes, fault, context)
        // An HTML page made by the transport keeps its content type.
        if fault != .htmlPage { response.headers[.contentType] = type }
        if let tag = version.tag {
            response.headers[.eTag] = tag
            response.headers[.lastModified] = HTTPDate.text(version.modified)
            response.headers[.acceptRanges] = "bytes"
        }
        return response
    }
}
