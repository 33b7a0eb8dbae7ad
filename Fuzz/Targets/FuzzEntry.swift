import Foundation

/// The target that `BILLOW_FUZZ` names.
private let target: FuzzTarget = {
    guard let name = ProcessInfo.processInfo.environment["BILLOW_FUZZ"], let target = FuzzTarget(rawValue: name) else {
        fatalError("BILLOW_FUZZ must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()

/// One input for that target, called from a program that needn't know this module.
@_cdecl("billow_fuzz")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) {
    target.run(Array(UnsafeBufferPointer(start: start, count: count)))
}
