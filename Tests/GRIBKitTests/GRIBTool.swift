import Foundation
import TestSupport

/// ecCodes' own command line, an independent reader of what is tested here (Debian's libeccodes-tools). Without it the
/// tests that ask fail; they are never skipped.
enum GRIBTool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    struct Point: Hashable {
        var longitude: Double
        var latitude: Double
        var value: Double
    }

    /// The points of a message's grid in the message's order, missing ones as NaN.
    static func points(_ message: [UInt8]) throws -> [Point] {
        let text = try run("grib_get_data", ["-m", "-99999", "-L", "%.9f %.9f", "-F", "%.9e"], on: message)
        return try text.split(separator: "\n").dropFirst().map { line in
            let numbers = line.split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 3 else { throw Failure(description: "grib_get_data wrote \(line)") }
            return Point(
                longitude: numbers[1], latitude: numbers[0], value: numbers[2] == -99_999 ? .nan : numbers[2])
        }
    }

    /// Values of keys, as `grib_get` writes them.
    static func keys(_ keys: [String], of message: [UInt8]) throws -> [String] {
        try run("grib_get", ["-p", keys.joined(separator: ",")], on: message)
            .split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// The pixels of a message as GDAL sees it, row by row from the north, with their centres in GDAL's plane.
    static func pixels(_ message: [UInt8]) throws -> [Point] {
        try run("gdal_translate", ["-q", "-of", "XYZ", "-ot", "Float64"], on: message, writes: true)
            .split(separator: "\n").map { line in
                let numbers = line.split(separator: " ").compactMap { Double($0) }
                guard numbers.count == 3 else { throw Failure(description: "gdal_translate wrote \(line)") }
                return Point(longitude: numbers[0], latitude: numbers[1], value: numbers[2])
            }
    }

    /// - Parameter writes: whether the tool takes the name of its output, instead of writing to its standard output.
    private static func run(
        _ tool: String, _ arguments: [String], on message: [UInt8], writes: Bool = false
    ) throws -> String {
        let path = "/usr/bin/\(tool)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(description: "\(path) is missing: run Scripts/setup test")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-grib-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "message.grib2")
        let output = folder.appending(path: "output.txt")
        try Data(message).write(to: file)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments + [file.path] + (writes ? [output.path] : [])
        process.environment = ProcessInfo.processInfo.environment.merging([
            "GRIB_NORMALIZE_UNITS": "NO", "GRIB_ADJUST_LONGITUDE_RANGE": "NO",
        ]) { $1 }
        // Through a file: a pipe that fills up would hold both sides.
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.runWithDeadline()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(tool) ended with status \(process.terminationStatus)")
        }
        return try String(contentsOf: output, encoding: .utf8)
    }
}
