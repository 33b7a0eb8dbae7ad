import BillowRaster
import Foundation
import JSONKit
import Testing

/// Pictures that were looked at, in `Fixtures`. What a test draws must have their pixels.
enum Golden {
    /// How far apart two pictures may be. A pixel differs where one channel, laid over nothing, is more than `channel`
    /// of 255 apart; at most `share` of all pixels may differ.
    struct Tolerance {
        var channel: Int
        var share: Double
    }

    private static let fixtures = World.repository.appending(path: "Tests/BillowHTTPTests/Fixtures")
    /// Where a mismatch leaves its pictures.
    private static let results = World.repository.appending(path: ".build/goldens")
    private static let isWriting = ProcessInfo.processInfo.environment["BILLOW_WRITE_GOLDENS"] == "1"

    /// Compares a picture with the golden of that name, as decoded pixels. `BILLOW_WRITE_GOLDENS=1` writes the golden
    /// instead.
    ///
    /// A mismatch leaves the actual picture, the expected one and one of the differences, and names them.
    static func expect(
        _ png: [UInt8], is name: String, within tolerance: Tolerance,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let golden = fixtures.appending(path: "\(name).png")
        if isWriting {
            try FileManager.default.createDirectory(at: fixtures, withIntermediateDirectories: true)
            return try Data(compact(png)).write(to: golden)
        }
        let expectedBytes = [UInt8](
            try #require(
                try? Data(contentsOf: golden), "\(golden.path) is missing; BILLOW_WRITE_GOLDENS=1 writes it",
                sourceLocation: sourceLocation))
        let (actual, expected) = (try PNG.decode(png), try PNG.decode(expectedBytes))
        let isSameSize = actual.width == expected.width && actual.height == expected.height
        let differs = isSameSize ? zip(actual.pixels, expected.pixels).map { isApart($0, $1, tolerance.channel) } : []
        let count = differs.count { $0 }
        if isSameSize && Double(count) <= tolerance.share * Double(differs.count) { return }
        let paths = try leave(png, expectedBytes, isSameSize ? difference(expected, differs) : nil, name)
        let words =
            isSameSize
            ? "\(count) of \(differs.count) pixels differ by more than \(tolerance.channel)"
            : "\(actual.width) × \(actual.height) pixels instead of \(expected.width) × \(expected.height)"
        Issue.record("\(name): \(words)\n\(paths.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    /// The picture in few bytes: with a palette, or with channels rounded by 2 at most. The latter is for more colours
    /// than a palette has, as at the edges of letters.
    private static func compact(_ png: [UInt8]) throws -> [UInt8] {
        let picture = try PNG.decode(png)
        func round(_ channel: UInt8) -> UInt8 { UInt8(min((Int(channel) + 2) / 4 * 4, 255)) }
        let rounded = picture.pixels.map {
            StraightColour(red: round($0.red), green: round($0.green), blue: round($0.blue), alpha: round($0.alpha))
        }
        let (width, height) = (picture.width, picture.height)
        for pixels in [picture.pixels, rounded] {
            let palette = Array(Set(pixels))
            guard palette.count <= 256 else { continue }
            let places = Dictionary(uniqueKeysWithValues: palette.enumerated().map { ($1, UInt8($0)) })
            return try PNG.encode(
                indexed: pixels.map { places[$0] ?? 0 }, width: width, height: height, palette: palette, level: 9)
        }
        return try PNG.encode(rgba: rounded, width: width, height: height, level: 9)
    }

    private static func isApart(_ a: StraightColour, _ b: StraightColour, _ channel: Int) -> Bool {
        let (first, second) = (a.premultiplied, b.premultiplied)
        return abs(Int(first.red) - Int(second.red)) > channel
            || abs(Int(first.green) - Int(second.green)) > channel
            || abs(Int(first.blue) - Int(second.blue)) > channel
            || abs(Int(first.alpha) - Int(second.alpha)) > channel
    }

    /// The expected picture in faint grey, and what differs in red.
    private static func difference(_ expected: DecodedPNG, _ differs: [Bool]) throws -> [UInt8] {
        let pixels = zip(expected.pixels, differs).map { pixel, isDifferent in
            if isDifferent { return StraightColour(red: 255, green: 0, blue: 0) }
            let colour = pixel.premultiplied
            let light = (Int(colour.red) + Int(colour.green) + Int(colour.blue)) / 3 + 255 - Int(colour.alpha)
            let grey = UInt8(170 + light / 3)
            return StraightColour(red: grey, green: grey, blue: grey)
        }
        return try PNG.encode(rgba: pixels, width: expected.width, height: expected.height)
    }

    private static func leave(
        _ actual: [UInt8], _ expected: [UInt8], _ difference: [UInt8]?, _ name: String
    ) throws -> [String] {
        try FileManager.default.createDirectory(at: results, withIntermediateDirectories: true)
        let pictures = [("actual", actual), ("expected", expected), ("difference", difference)]
        return try pictures.compactMap { kind, bytes in
            let file = results.appending(path: "\(name)-\(kind).png")
            guard let bytes else { return nil }
            try Data(bytes).write(to: file)
            return "\(kind): \(file.path)"
        }
    }
}
