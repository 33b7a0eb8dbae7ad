import GRIBKit
import GRIBMaking
import Testing

@Suite("Refused messages")
struct GRIBRefusalTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: GRIBError.Code
        let packing: GRIBDraft.Packing
        let hasBitmap: Bool
        let change: @Sendable (inout [UInt8]) throws -> Void

        init(
            _ name: String, _ code: GRIBError.Code, packing: GRIBDraft.Packing = .simple, hasBitmap: Bool = true,
            _ change: @escaping @Sendable (inout [UInt8]) throws -> Void
        ) {
            testDescription = name
            self.code = code
            self.packing = packing
            self.hasBitmap = hasBitmap
            self.change = change
        }

        /// One value in octets of a section.
        init(
            _ name: String, _ code: GRIBError.Code, packing: GRIBDraft.Packing = .simple, hasBitmap: Bool = true,
            _ section: Int, _ octet: Int, _ octets: Int, _ value: Int
        ) {
            self.init(name, code, packing: packing, hasBitmap: hasBitmap) { bytes in
                try Patch.set(section, octet, octets: octets, to: value, in: &bytes)
            }
        }
    }

    static let cases: [Case] = [
        Case("another width of the grid", .gridMismatch, 3, 31, 4, 8),
        Case("another number of points", .gridMismatch, 3, 7, 4, 36),
        Case("2^31 points", .gridTooLarge) { bytes in
            try Patch.set(3, 31, octets: 4, to: 1 << 16, in: &bytes)
            try Patch.set(3, 35, octets: 4, to: 1 << 15, in: &bytes)
        },
        Case("2^64 points", .gridTooLarge) { bytes in
            try Patch.set(3, 31, octets: 4, to: -1, in: &bytes)
            try Patch.set(3, 35, octets: 4, to: -1, in: &bytes)
        },
        Case("no points", .gridMismatch) { bytes in
            try Patch.set(3, 7, octets: 4, to: 0, in: &bytes)
            try Patch.set(3, 31, octets: 4, to: 0, in: &bytes)
        },
        Case("a Gaussian grid", .unknownTemplate, 3, 13, 2, 40),
        Case("a predefined grid", .unknownValue, 3, 6, 1, 1),
        Case("rows of different lengths", .unknownValue, 3, 11, 1, 2),
        Case("geomagnetic coordinates", .unknownValue, 3, 15, 1, 10),
        Case("the Sun", .unknownValue, 3, 15, 1, 11),
        Case("a sphere without a radius", .invalid, 3, 15, 1, 1),
        Case("a first point beyond the pole", .invalid, 3, 39, 4, 91_000_000),
        Case("no step", .invalid, 3, 56, 4, 0),
        Case("parallels that make a cylinder", .invalid, 3, 66, 4, 38_500_000 | 1 << 31),
        Case("points that are shifted", .unknownValue, 3, 65, 1, 0x48),
        Case("a bipolar projection", .unknownValue, 3, 64, 1, 0x40),
        Case("another product template", .unknownTemplate, 4, 8, 2, 60),
        Case("months as the unit of time", .unknownValue, 4, 18, 1, 3),
        Case("an altitude without a value", .invalid, 4, 25, 4, -1),
        Case("a 13th month", .invalid, 1, 15, 1, 13),
        Case("a 31st of November", .invalid, 1, 16, 1, 31),
        Case("run lengths", .unknownTemplate, 5, 10, 2, 200),
        Case("a PNG", .unknownTemplate, 5, 10, 2, 41),
        Case("an unknown packing", .unknownTemplate, 5, 10, 2, 50_002),
        Case("values of 33 bits", .unknownValue, 5, 20, 1, 33),
        Case("values of more bits than there are", .dataMismatch, 5, 20, 1, 24),
        Case("a value too few for the bitmap", .bitmapMismatch, 5, 6, 4, 28),
        Case("a value too many for the bitmap", .bitmapMismatch, 5, 6, 4, 30),
        Case("more values than points", .gridMismatch, 5, 6, 4, 36),
        Case("a value too few without a bitmap", .bitmapMismatch, hasBitmap: false, 5, 6, 4, 34),
        Case("a bitmap with another point", .bitmapMismatch, 6, 7, 1, 0xFF),
        Case("a predefined bitmap", .unknownValue, 6, 6, 1, 1),
        Case("a bitmap as before", .invalid, 6, 6, 1, 254),
        Case("a bitmap that is too short", .lengthMismatch) { bytes in
            let bitmap = try Patch.section(6, of: bytes)
            try Patch.set(6, 1, octets: 4, to: bitmap.count - 1, in: &bytes)
            bytes.remove(at: bitmap.upperBound - 1)
            Patch.put(bytes.count, octets: 8, at: 8, in: &bytes)
        },
        Case("JPEG 2000 of another width", .imageMismatch, packing: .jpeg2000, 7, 5 + 9, 4, 28),
        Case("JPEG 2000 of 2^31 columns", .imageMismatch, packing: .jpeg2000) { bytes in
            try Patch.set(7, 5 + 9, octets: 4, to: 1 << 31, in: &bytes)
            try Patch.set(7, 5 + 25, octets: 4, to: 1 << 31, in: &bytes)
        },
        Case("JPEG 2000 that is too high", .imageMismatch, packing: .jpeg2000) { bytes in
            try Patch.set(7, 5 + 13, octets: 4, to: 1_000, in: &bytes)
            try Patch.set(7, 5 + 29, octets: 4, to: 1_000, in: &bytes)
        },
        Case("JPEG 2000 of tiles of one pixel", .dataMismatch, packing: .jpeg2000) { bytes in
            try Patch.set(7, 5 + 9, octets: 4, to: 1 << 20, in: &bytes)
            try Patch.set(7, 5 + 25, octets: 4, to: 1, in: &bytes)
        },
        Case("JPEG 2000 that begins elsewhere", .dataMismatch, packing: .jpeg2000, 7, 5 + 17, 4, 1),
        Case("JPEG 2000 of three components", .unknownValue, packing: .jpeg2000, 7, 5 + 41, 2, 3),
        Case("JPEG 2000 with a sign", .unknownValue, packing: .jpeg2000, 7, 5 + 43, 1, 0x8B),
        Case("JPEG 2000 without its marker", .dataMismatch, packing: .jpeg2000, 7, 5 + 3, 2, 0xFF50),
        Case("CCSDS blocks of nothing", .unknownValue, packing: .ccsds, 5, 23, 1, 0),
        Case("CCSDS without reference samples", .unknownValue, packing: .ccsds, 5, 24, 2, 0),
        Case("CCSDS with a sign", .unknownValue, packing: .ccsds, 5, 22, 1, 15),
        Case("more groups than values", .dataMismatch, packing: .complex, 5, 32, 4, 30),
        Case("groups of too many values", .dataMismatch, packing: .complex, 5, 43, 4, 1 << 30),
        Case("groups of too few values", .dataMismatch, packing: .complex, 5, 43, 4, 1),
        Case("groups of too many bits", .dataMismatch, packing: .complexWithDifferences, 5, 36, 1, 255),
        Case("a third order of differences", .unknownValue, packing: .complexWithDifferences, 5, 48, 1, 3),
        Case("floating point numbers of 128 bits", .unknownValue, packing: .ieee, 5, 12, 1, 3),
        Case("floating point numbers of 64 bits, half of them missing", .dataMismatch, packing: .ieee, 5, 12, 1, 2),
        Case("a section that isn't one", .sectionOrder, 4, 5, 1, 9),
        Case("a section without a length", .lengthMismatch, 4, 1, 4, 0),
    ]

    @Test("have a reason, and cost their neighbours nothing", arguments: cases)
    func refused(_ wrong: Case) throws {
        var draft = Samples.draft()
        draft.packing = wrong.packing
        draft.hasBitmap = wrong.hasBitmap
        draft.values = Samples.values(draft.grid, missing: wrong.hasBitmap)
        var bytes = try draft.message()
        let good = bytes
        try wrong.change(&bytes)
        var messages = GRIBMessages()
        let items = messages.read(bytes + good) + messages.finish()
        try #require(items.count == 2)
        guard case .refused(let reason, 1, 0) = items[0] else {
            Issue.record("taken")
            return
        }
        #expect(reason.code == wrong.code, "\(reason)")
        #expect(!reason.description.isEmpty)
        #expect(messages.refusals == [wrong.code: 1])
        guard case .message = items[1] else {
            Issue.record("the good one was refused, too")
            return
        }
    }
}
