import FuzzTargets

#if canImport(Glibc)
    import Glibc
#endif

/// The target that `BILLOW_FUZZ` names.
private let target: FuzzTarget = {
    guard let name = getenv("BILLOW_FUZZ").map({ String(cString: $0) }), let target = FuzzTarget(rawValue: name) else {
        fatalError("BILLOW_FUZZ must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()

/// What libFuzzer calls with each input.
///
/// Source: LLVM's documentation of libFuzzer
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
