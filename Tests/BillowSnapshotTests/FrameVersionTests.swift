import Datasets
import TestSupport
import Testing
import Turbulence

@testable import BillowSnapshot

private let noon = Instant(clamping: 1_795_262_400)

@Suite("Versions of live frames")
struct FrameVersionTests {
    private func version(_ number: Int64) -> Version { Version(rawValue: number) }
    private func step(_ seconds: Int, _ number: Int64, _ kind: ObservedTable = .observations) -> StepVersion {
        StepVersion(kind: kind, step: TimeStep(noon.advanced(by: seconds)), version: version(number))
    }
    private func seen(_ seconds: Int, _ lookBack: Int, _ kind: ObservedTable = .observations) -> FrameDependency {
        .observed(kind, at: noon.advanced(by: seconds), lookBackSeconds: lookBack)
    }

    @Test("a frame has the newest version of the steps that it looks back over, whatever hours they lie in")
    func newest() {
        var versions = FrameVersions(from: noon.advanced(by: -32_400))
        versions.update(
            ChangedTimes(steps: [step(-7_300, 3), step(-3_600, 5), step(-10, 4), step(50, 9), step(-10, 7, .reports)]),
            upTo: version(9))
        #expect(versions.version(of: seen(0, 7_200)) == version(5))
        #expect(versions.version(of: seen(0, 3_600)) == version(4))
        #expect(versions.version(of: seen(0, 21_600)) == version(5))
        #expect(versions.version(of: seen(-3_660, 7_200)) == version(3))
        #expect(versions.version(of: seen(60, 60)) == version(9))
        #expect(versions.version(of: seen(0, 1_800, .reports)) == version(7))
        #expect(versions.version(of: seen(0, 1_800, .positions)) == .zero)
    }

    @Test("times before its range are read from the log")
    func older() {
        var versions = FrameVersions(from: noon.advanced(by: -3_600))
        versions.update(ChangedTimes(steps: [step(-3_590, 2)]), upTo: version(2))
        #expect(versions.version(of: seen(0, 3_600)) == version(2))
        #expect(versions.version(of: seen(0, 3_620)) == nil)
        versions.drop(before: noon)
        #expect(versions.version(of: seen(0, 600)) == nil)
        #expect(versions.version(of: seen(600, 600)) == .zero)
        #expect(versions.version(of: .areas(.hazards, at: noon.advanced(by: -60))) == nil)
    }

    @Test("a version that is not known yet counts as the head, until it is")
    func ahead() {
        var versions = FrameVersions(from: noon.advanced(by: -3_600))
        versions.update(ChangedTimes(steps: [step(-10, 8)], rules: version(3)), upTo: version(5))
        #expect(versions.version(of: seen(0, 600)) == version(5))
        #expect(versions.version(of: seen(-600, 600)) == version(3))
        versions.update(ChangedTimes(steps: [step(-10, 8)]), upTo: version(8))
        #expect(versions.version(of: seen(0, 600)) == version(8))
    }

    @Test("areas count where they hold")
    func areas() {
        var versions = FrameVersions(from: noon.advanced(by: -3_600))
        versions.update(
            ChangedTimes(areas: [
                AreaVersion(collection: .hazards, validFrom: noon, validTo: noon.advanced(by: 60), version: version(4)),
                AreaVersion(
                    collection: .forecast, validFrom: noon, validTo: noon.advanced(by: 90_000), version: version(6)),
            ]), upTo: version(6))
        #expect(versions.version(of: .areas(.hazards, at: noon.advanced(by: -1))) == .zero)
        #expect(versions.version(of: .areas(.hazards, at: noon)) == version(4))
        #expect(versions.version(of: .areas(.hazards, at: noon.advanced(by: 60))) == .zero)
        #expect(versions.version(of: .areas(.forecast, at: noon.advanced(by: 86_400))) == version(6))
        #expect(FrameVersions(fixed: version(2)).version(of: .areas(.hazards, at: noon)) == version(2))
    }
}
