import Foundation
import TestSupport
import Testing
import Turbulence

@testable import BillowPacks

@Suite("Files without names")
struct FileWriterTests {
    @Test("only files that a killed process left are removed, and none that is new or a person's")
    func leftovers() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-leftovers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let names = [
            ".billow-unfinished-export-a1B2c3", ".billow-unfinished-export-a1B2c3.csv", "billow-export-a1B2c3",
            "billow.sqlite",
        ]
        for name in names { try Data("x".utf8).write(to: folder.appending(path: name)) }
        func left() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) }
        FileWriter.removeLeftovers(in: folder.path, changedBefore: Date(timeIntervalSinceNow: -60))
        #expect(try left() == Set(names))
        FileWriter.removeLeftovers(in: folder.path, changedBefore: Date(timeIntervalSinceNow: 60))
        #expect(try left() == Set(names.dropFirst()))
    }

    @Test("an unnamed file is in its folder without a name, and is written and read at offsets")
    func unnamed() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-unnamed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, _) = try FileDestination.unnamed(folder: folder.path).open { (_, _) throws(PackError) in }
        try file.write([1, 2, 3], at: 2)
        #expect(try file.read(9, at: 3) == [2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(throws: PackError.self) {
            try FileDestination.unnamed(folder: folder.path + "/none").open { (_, _) throws(PackError) in }
        }
    }

    @Test("an entry that is written piece by piece is what an archiver unpacks", arguments: [0, 1, 3_000_000])
    func entry(_ count: Int) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).zip").path
        defer { unlink(path) }
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        let file = try FileWriter(creating: path)
        let archive = ZipFile(file, at: .distantPast)
        try archive.begin("doc.kml")
        for start in stride(from: 0, to: count, by: 70_000) {
            try archive.append(Array(bytes[start..<min(start + 70_000, count)]))
        }
        try archive.end()
        try archive.add("other.txt", Array("other".utf8))
        try archive.finish()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unzip", "-p", path, "doc.kml"]
        let output = URL(filePath: path + ".out")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.runWithDeadline()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(Array(try Data(contentsOf: output)) == bytes)
    }
}
