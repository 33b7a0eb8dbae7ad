import TestSupport
import Testing

@testable import NOAAGuidance

@Suite("Indexes")
struct IndexTests {
    private func index(_ lines: String...) -> MessageIndex { MessageIndex(lines.joined(separator: "\n").utf8) }

    @Test("a line says where a message begins and what it is") func lines() throws {
        let index = index(
            "1:0:d=2026092412:EDPARM:30 m above mean sea level:3 hour fcst:",
            "2:780111:d=2026092412:CATEDR:10668 m above mean sea level:anl:\r",
            "3:1500000:d=202609241215:MXEDPRM:entire atmosphere:0-1 hour max fcst:extra",
            "4:1600000:d=2026092412:var discipline=0 center=7 local_table=1 parmcat=19 parm=30:304 m above mean sea "
                + "level:18 hour fcst:", "")
        #expect(index.refused.isEmpty)
        #expect(index.entries.map(\.number) == [1, 2, 3, 4])
        #expect(index.entries.map(\.offset) == [0, 780_111, 1_500_000, 1_600_000])
        #expect(index.entries.map(\.key.parameter) == [.edr, .clearAir, .columnMaximum, .edr])
        #expect(index.entries.map(\.key.level.altitudeMeters) == [30, 10_668, nil, 304])
        #expect(index.entries.map(\.leadHours) == [3, 0, nil, 18])
        #expect(index.entries[0].referenceSeconds == 1_790_251_200)
        #expect(index.entries[2].referenceSeconds == 1_790_251_200 + 900)
    }

    private static let refused: [(String, MessageIndex.LineError)] = [
        ("1:0:d=2026092412:EDPARM:30 m above mean sea level", .missingFields), ("1:0", .missingFields),
        ("1:0:d=2026092412::30 m above mean sea level:anl:", .missingFields),
        ("1:0:d=2026092412:EDPARM::anl:", .missingFields), ("<html>", .missingFields),
        ("0:0:d=2026092412:EDPARM:x:anl:", .number), ("-1:0:d=2026092412:EDPARM:x:anl:", .number),
        ("one:0:d=2026092412:EDPARM:x:anl:", .number), ("1.2.3:0:d=2026092412:EDPARM:x:anl:", .number),
        ("1.:0:d=2026092412:EDPARM:x:anl:", .number),
        ("99999999999999999999:0:d=2026092412:EDPARM:x:anl:", .number),
        ("1::d=2026092412:EDPARM:x:anl:", .offset), ("1:-5:d=2026092412:EDPARM:x:anl:", .offset),
        ("1:99999999999999:d=2026092412:EDPARM:x:anl:", .offset),
        ("1:0:d=2026092425:EDPARM:x:anl:", .time), ("1:0:d=2026093112:EDPARM:x:anl:", .time),
        ("1:0:2026092412:EDPARM:x:anl:", .time), ("1:0:d=20260924:EDPARM:x:anl:", .time),
        ("1:0:d=2026092412:EDP\u{7}ARM:x:anl:", .notText), ("1:0:d=2026092412:EDPÄRM:x:anl:", .notText),
        (String(repeating: "1", count: 600), .tooLong),
    ]

    @Test("a line that can't be read is refused alone, with its reason", arguments: refused)
    func refusal(line: String, reason: MessageIndex.LineError) {
        let good = "7:700:d=2026092412:EDPARM:30 m above mean sea level:anl:"
        let index = index(line, good)
        #expect(index.refused == [reason: 1])
        #expect(index.entries.map(\.number) == [7])
    }

    @Test("offsets and numbers must ascend; parts of one message share them") func order() {
        let tail = "d=2026092412:EDPARM:30 m above mean sea level:anl:"
        let index = index(
            "1:0:\(tail)", "2.1:100:\(tail)", "2.2:100:d=2026092412:CATEDR:30 m above mean sea level:anl:",
            "2.2:100:\(tail)", "3:90:\(tail)", "2:200:\(tail)", "4:400:\(tail)")
        #expect(index.refused == [.order: 3])
        let spans = index.spans(fileBytes: 500)
        #expect(spans.map(\.lower) == [0, 100, 400] && spans.map(\.upper) == [100, 400, 500])
        #expect(spans[1].keys.map(\.parameter) == [.edr, .clearAir])
        // A refused line stands behind the second: where that one ends is not sure.
        #expect(spans.map(\.isExact) == [true, false, true])
        #expect(index.spans(fileBytes: nil).last?.upper == nil)
    }

    @Test("an index of more lines than any file has is cut") func bound() {
        let text = (1...5_000).map { "\($0):\($0 * 10):d=2026092412:EDPARM:x:anl:\n" }.joined()
        let index = MessageIndex(text.utf8)
        #expect(index.entries.count == MessageIndex.maximumLines && index.refused == [.tooMany: 1])
    }

    @Test("random bytes and broken indexes never give spans that overlap") func random() {
        var generator = SeededGenerator(seed: 4)
        let good = (1...40).map { "\($0):\($0 * 1_000):d=2026092412:EDPARM:\($0) m above mean sea level:anl:\n" }
            .joined()
        for round in 0..<400 {
            var bytes =
                round % 2 == 0
                ? Array(good.utf8) : (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                let place = bytes.indices.randomElement(using: &generator) ?? 0
                bytes[place] = Array("0123456789:.\n\rdD=".utf8).randomElement(using: &generator) ?? 0
            }
            let index = MessageIndex(bytes)
            let spans = index.spans(fileBytes: 50_000)
            for (one, next) in zip(spans, spans.dropFirst()) {
                #expect(one.lower < (one.upper ?? 0) && one.upper == next.lower)
            }
            #expect(index.entries.count + index.refused.values.reduce(0, +) <= bytes.count)
        }
    }
}

@Suite("Directories")
struct ListingTests {
    private func listing(_ html: String) -> [DirectoryListing.Entry] { DirectoryListing(Array(html.utf8)).entries }

    @Test("pages of Apache, with and without a table, and of nginx give the same files") func pages() {
        let expected: [DirectoryListing.Entry] = [
            .init(name: "12", isDirectory: true, modifiedSeconds: 1_790_251_320),
            .init(name: "gtgn.t1200z.3km.grib2", modifiedSeconds: 1_790_251_440, size: "28M"),
        ]
        let plain = """
            <html><head><title>Index of /x</title></head><body><h1>Index of /x</h1>
            <pre><img src="/icons/blank.gif" alt="Icon "> <a href="?C=N;O=D">Name</a> <a href="?C=M;O=A">Last</a><hr>
            <img src="/icons/back.gif" alt="[PARENTDIR]"> <a href="/pub/data/">Parent Directory</a>          -
            <img src="/icons/folder.gif" alt="[DIR]"> <a href="12/">12/</a>       2026-09-24 12:02    -
            <img src="/icons/unknown.gif" alt="[   ]"> \
            <a href="gtgn.t1200z.3km.grib2">gtgn.t1200z.3km.gr..&gt;</a> 2026-09-24 12:04   28M
            <hr></pre></body></html>
            """
        let table = """
            <TABLE><tr><td><A HREF='12/'><img src="x"></A></td><td><A HREF='12/'>12/</A></td>\
            <td align="right">24-Sep-2026 12:02  </td><td> - </td></tr>
            <tr><td valign="top"><a href="gtgn.t1200z.3km.grib2"><img src="y"></a></td><td><a \
            href="gtgn.t1200z.3km.grib2">gtgn</a></td><td align="right">2026-09-24 12:04  </td>\
            <td align="right"> 28M</td></tr>
            """
        let nginx = """
            <a href="../">../</a>\r
            <a href="12/">12/</a>           24-Sep-2026 12:02       -\r
            <a href=./gtgn.t1200z.3km.grib2>gtgn.t1200z.3km.grib2</a>   24-Sep-2026 12:04   28M\r
            """
        #expect(listing(plain) == expected)
        #expect(listing(table) == expected)
        #expect(listing(nginx) == expected)
    }

    @Test(
        "links to elsewhere are passed over",
        arguments: [
            "/absolute", "https://elsewhere.invalid/x", "../", "./", "..", ".", "", "?C=N", "#top", "a/b", "a%2Fb",
            "%2e%2e/",
            "a b", "a%00b", "a%20b", "mailto:x", "a\\b", "a&amp;b", "%zz", String(repeating: "a", count: 300),
        ]) func elsewhere(target: String)
    {
        #expect(listing("<a href=\"\(target)\">x</a>\n<a href=\"kept\">y</a>").map(\.name) == ["kept"])
    }

    @Test("pages that break off, nest or say nothing are read as far as they go") func broken() {
        #expect(listing("").isEmpty)
        #expect(listing("<a href=\"x").isEmpty)
        #expect(listing("<a").isEmpty && listing("<a ").isEmpty && listing("<").isEmpty)
        #expect(listing("<a name=\"x\">x</a>").isEmpty)
        #expect(listing("<abbr href=\"x\">x</abbr><A\tHREF = \"y\" >y</A>") == [.init(name: "y")])
        #expect(
            listing("<a href=\"x\">2026</a> 2026-13-45 99:99 1.5G <a href=\"x\">x</a> 2026-09-24 12:02 7K")
                == [.init(name: "x", modifiedSeconds: 1_790_251_320, size: "1.5G")])
        let many = (0..<20_000).map { "<a href=\"\($0)\">\($0)</a>\n" }.joined()
        #expect(listing(many).count == DirectoryListing.maximumEntries)
    }

    @Test("random bytes give no name that could lead elsewhere") func random() {
        var generator = SeededGenerator(seed: 5)
        let pieces = [
            "<a href=", "\"", "'", ">", "</a>", "x", "/", "..", "%2F", "\n", "<", " ", "2026-09-24 12:02", "\u{0}",
        ]
        for _ in 0..<2_000 {
            let page = (0..<60).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            for entry in listing(page) {
                #expect(!entry.name.contains("/") && entry.name != ".." && !entry.name.isEmpty)
            }
        }
    }
}

@Suite("Content-Range")
struct ContentRangeTests {
    @Test("parts, totals and refusals are read") func good() throws {
        #expect(ContentRange("bytes 0-9/100")?.part == 0..<10)
        #expect(ContentRange("Bytes 90-99/100")?.total == 100)
        #expect(ContentRange("bytes 5-5/*")?.part == 5..<6 && ContentRange("bytes 5-5/*")?.total == nil)
        let refusal = try #require(ContentRange("bytes */47"))
        #expect(refusal.part == nil && refusal.total == 47)
    }

    @Test(
        "malformed lines are rejected",
        arguments: [
            "", "bytes", "bytes 0-9", "items 0-9/10", "bytes 9-0/10", "bytes 0-10/10", "bytes -9/10", "bytes 0-/10",
            "bytes a-b/c", "bytes 0-9/10/11", "bytes 0-9-8/10", "bytes 0-99999999999999999999/*", "bytes 0-9 / 10",
        ]) func bad(text: String)
    { #expect(ContentRange(text) == nil) }
}
