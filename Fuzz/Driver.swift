@_silgen_name("billow_fuzz")
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int)

/// What libFuzzer calls with each input.
///
/// Source: LLVM's documentation of libFuzzer
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    fuzz(start, count)
    return 0
}
