import Foundation
import FuzzTargets
import TestSupport
import Testing

/// What the fuzzer found worth keeping, and what it once broke: any of it would end the process.
@Suite("The fuzzer's corpus")
struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fuzz/Corpus").standardizedFileURL

    private static func inputs(_ target: FuzzTarget) throws -> [[UInt8]] {
        let folder = folder.appending(path: target.rawValue)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
    }

    @Test("every input is accepted or refused", arguments: FuzzTarget.allCases)
    func replay(_ target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        #expect(!inputs.isEmpty)
        for input in inputs { target.run(input) }
    }

    @Test("so is what comes of it by changing, cutting and joining bytes", arguments: FuzzTarget.allCases)
    func mutations(_ target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<150 {
            guard var bytes = inputs.randomElement(using: &random) else { return }
            for _ in 0...Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(at..<min(bytes.count, at + 5))
                case 2: bytes.insert(contentsOf: bytes.suffix(7), at: at)
                default: bytes = Array(bytes[..<at]) + (inputs.randomElement(using: &random) ?? [])
                }
            }
            target.run(bytes)
        }
    }
}
