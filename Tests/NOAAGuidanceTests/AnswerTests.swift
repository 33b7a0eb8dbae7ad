import Foundation
import NIOHTTP1
import Testing

@testable import NOAAGuidance
@testable import UpstreamKit

@Suite("Answers to a range")
struct AnswerTests {
    private static let tag = "\"1-3e8\""

    /// A session of a file of 1,000 bytes, or of an unknown length.
    private func session(bytes: Int? = 1_000) throws -> DownloadSession {
        let file = try #require(GuidanceFile(product: .gtgn, runSeconds: 900))
        var head = GuidanceFileHead(
            Exchange.Head(status: 200, headers: ["etag": Self.tag]), nowSeconds: 0)
        head.bytes = bytes
        return DownloadSession(
            GuidanceDownload(file), head, nil, GuidanceProgress(), GuidanceConfiguration(), startsOver: false
        ) { _ in .goOn }
    }

    private typealias ByteRange = RangePlan.ByteRange

    private static let parts: [(Int, HTTPHeaders, ByteRange)] = [
        (206, ["content-range": "bytes 100-199/1000"], ByteRange(lower: 100, upper: 200)),
        (206, ["content-range": "bytes 100-199/*"], ByteRange(lower: 100, upper: 200)),
        (
            206, ["content-range": "bytes 100-199/1000", "content-length": "100", "etag": tag],
            ByteRange(lower: 100, upper: 200)
        ),
        (200, [:], ByteRange(lower: 0, upper: nil)),
        (200, ["content-length": "1000", "etag": tag], ByteRange(lower: 0, upper: 1_000)),
    ]

    @Test("a part must be the one that was requested; a whole file is accepted too", arguments: parts)
    func good(status: Int, headers: HTTPHeaders, part: RangePlan.ByteRange) throws {
        let session = try session()
        let head = Exchange.Head(status: status, headers: headers)
        #expect(try session.part(of: head, ByteRange(lower: 100, upper: 200)) == part)
        #expect(!session.isReplaced)
    }

    private static let others: [(Int, HTTPHeaders)] = [
        (206, ["content-range": "bytes 100-199/1000", "etag": "\"2-3e8\""]),
        (206, ["content-range": "bytes 100-199/2000"]), (200, ["etag": "\"2-3e8\""]),
        (200, ["content-length": "999"]), (416, ["content-range": "bytes */50"]), (404, [:]), (410, [:]),
    ]

    @Test("another tag or length, or no such part any more, is another version", arguments: others)
    func replaced(status: Int, headers: HTTPHeaders) throws {
        let session = try session()
        let head = Exchange.Head(status: status, headers: headers)
        #expect(try session.part(of: head, ByteRange(lower: 100, upper: 200)) == nil)
        #expect(session.isReplaced)
    }

    private static let faulty: [(Int, HTTPHeaders)] = [
        (206, [:]), (206, ["content-type": "multipart/byteranges; boundary=x"]),
        (206, ["content-range": "bytes */1000"]), (206, ["content-range": "100-199/1000"]),
        (206, ["content-range": "bytes 0-99/1000"]), (206, ["content-range": "bytes 101-199/1000"]),
        (206, ["content-range": "bytes 100-198/1000"]), (206, ["content-range": "bytes 100-200/1000"]),
        (206, ["content-range": "bytes 100-199/1000", "content-length": "99"]), (304, [:]), (204, [:]),
    ]

    @Test("anything else is refused", arguments: faulty)
    func refused(status: Int, headers: HTTPHeaders) throws {
        let session = try session()
        let head = Exchange.Head(status: status, headers: headers)
        #expect(throws: UpstreamError.self) { try session.part(of: head, ByteRange(lower: 100, upper: 200)) }
        #expect(!session.isReplaced)
    }

    @Test("the length of the file is learned from the first part, or from one that ends early") func length() throws {
        let told = try session(bytes: nil)
        _ = try told.part(
            of: Exchange.Head(status: 206, headers: ["content-range": "bytes 0-99/300"]),
            ByteRange(lower: 0, upper: 100))
        // Later parts must agree with it.
        _ = try told.part(
            of: Exchange.Head(status: 206, headers: ["content-range": "bytes 0-99/400"]),
            ByteRange(lower: 0, upper: 100))
        #expect(told.isReplaced)
        let short = try session(bytes: nil)
        let part = try short.part(
            of: Exchange.Head(status: 206, headers: ["content-range": "bytes 0-49/50"]),
            ByteRange(lower: 0, upper: 100))
        #expect(part == ByteRange(lower: 0, upper: 50) && short.nextRange()?.header == "bytes=0-49")
    }

    @Test("a strong tag, else the date, is the condition of a range; a weak tag is none") func conditions() {
        #expect(GuidanceValidators(entityTag: "\"a\"", lastModified: "d").rangeCondition == "\"a\"")
        #expect(GuidanceValidators(entityTag: "W/\"a\"", lastModified: "d").rangeCondition == "d")
        #expect(GuidanceValidators(entityTag: "W/\"a\"").rangeCondition == nil)
        let old = GuidanceValidators(entityTag: "\"a\"", lastModified: "d")
        #expect(old.contradicts(GuidanceValidators(entityTag: "\"b\"", lastModified: "d")))
        #expect(!old.contradicts(GuidanceValidators(entityTag: "\"a\"", lastModified: "e")))
        #expect(old.contradicts(GuidanceValidators(lastModified: "e")))
        #expect(!old.contradicts(GuidanceValidators()))
    }

    @Test("a redirect is a block where it leads nowhere or to the page about blocks") func notices() {
        func isNotice(_ status: Int, _ headers: HTTPHeaders) -> Bool {
            BlockNotice.isNotice(Exchange.Head(status: status, headers: headers))
        }
        #expect(isNotice(302, [:]))
        #expect(isNotice(302, ["location": "https://www.weather.gov/Abusive-User-Block/"]))
        #expect(!isNotice(302, ["location": "https://elsewhere.invalid/"]) && !isNotice(200, [:]))
        #expect(BlockNotice.isNotice(Array("<HTML><TITLE>Over Rate Limit</TITLE>".utf8)))
        #expect(!BlockNotice.isNotice(Array("<html>Not found</html>".utf8)))
    }

    @Test("the state for a restart is stored as JSON and read back") func kept() throws {
        var progress = GuidanceProgress()
        let file = try #require(GuidanceFile(product: .gtg, runSeconds: 3_600, leadHours: 2))
        progress.note(
            .began(
                .init(
                    file: file, validators: GuidanceValidators(entityTag: Self.tag), startsOver: false,
                    messageCount: nil, byteCount: nil, requestCount: nil, refusedLines: [:], isSimulated: false)))
        for (number, keys) in [(1, [message(.edr, 3_048)]), (2, [])] {
            progress.note(
                .message(GuidanceMessage(file: file, number: number, offset: 50, keys: keys, bytes: frame(30))))
        }
        #expect(progress.keys.count == 1 && progress.nextOffset == 80 && progress.nextNumber == 3)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let kept = try encoder.encode(progress)
        #expect(try JSONDecoder().decode(GuidanceProgress.self, from: kept) == progress)
        #expect(String(decoding: kept, as: UTF8.self).contains("\"3048 m above mean sea level\""))
        var ledger = RequestBudget.Ledger()
        ledger.bytes = 17
        #expect(try JSONDecoder().decode(RequestBudget.Ledger.self, from: encoder.encode(ledger)) == ledger)
        #expect(try JSONDecoder().decode(GuidanceFile.self, from: encoder.encode(file)) == file)
    }
}
