internal import CEcCodes
import Synchronization

/// All calls of the C library ecCodes. No pointer or handle leaves this file.
///
/// Only one thread may call the library at a time. ecCodes protects its tables and caches with locks only in some
/// builds. Debian's build is without POSIX threads (`ECCODES_THREADS` is off); it uses OpenMP's locks, which protect
/// OpenMP's threads only. So each call holds a lock of this type, and a second caller waits for as long as one field
/// takes to decode. Call it from a thread that may block.
package enum ECCodes {
    private static let turn = Mutex(())
    private static let prepared: Void = billow_codes_install()

    /// The version of the library, such as `2.28.0`.
    package static var version: String {
        turn.withLock { _ in
            let version = Int(codes_get_api_version())
            return "\(version / 10_000).\(version / 100 % 100).\(version % 100)"
        }
    }

    /// The folders from which the library reads its tables. Without them it can't decode any message.
    package static var tableFolders: [String] {
        turn.withLock { _ in codes_definition_path(nil).map { String(cString: $0) } ?? "" }
            .split(separator: ":").map(String.init)
    }

    /// The unpacked values of a message, in the message's order. There are exactly `count`.
    ///
    /// - Parameter missing: the result for a value that the packing marks as missing.
    /// - Throws: `decoder`.
    static func values(_ message: [UInt8], count: Int, missing: Double) throws(GRIBError) -> [Double] {
        let result: Result<[Double], GRIBError> = turn.withLock { _ in
            _ = prepared
            var code: Int32 = 0
            let values = [Double](unsafeUninitializedCapacity: count) { values, initialised in
                code = message.withUnsafeBytes { bytes in
                    billow_codes_values(bytes.baseAddress, bytes.count, missing, values.baseAddress, count)
                }
                initialised = code == 0 ? count : 0
            }
            return code == 0 ? .success(values) : .failure(refusal(code))
        }
        return try result.get()
    }

    /// Makes a message from the library's GRIB2 sample.
    ///
    /// - Parameters:
    ///   - keys: keys that are set first, in this order.
    ///   - values: the values in the message's order, set last. `missing` marks points without a value.
    /// - Throws: `decoder`, with the key that can't be set.
    package static func message(
        keys: [(String, KeyValue)], values: [Double], missing: Double
    ) throws(GRIBError) -> [UInt8] {
        let result: Result<[UInt8], GRIBError> = turn.withLock { _ in
            _ = prepared
            billow_codes_forget()
            guard let handle = codes_grib_handle_new_from_samples(nil, "GRIB2") else {
                return .failure(refusal(CODES_FILE_NOT_FOUND))
            }
            var isUsable = true
            defer { if isUsable { codes_handle_delete(handle) } }
            for (key, value) in keys + [("missingValue", .double(missing))] {
                let code =
                    switch value {
                    case .long(let value): codes_set_long(handle, key, value)
                    case .double(let value): codes_set_double(handle, key, value)
                    case .string(let text):
                        {
                            var length = text.utf8.count
                            return codes_set_string(handle, key, text, &length)
                        }()
                    }
                if code != 0 { return .failure(refusal(code, of: key)) }
            }
            let code = billow_codes_pack(handle, values, values.count)
            isUsable = code != Int32(BILLOW_CODES_ASSERTION)
            if code != 0 { return .failure(refusal(code, of: "values")) }
            var start: UnsafeRawPointer?
            var count = 0
            let got = codes_get_message(handle, &start, &count)
            if got != 0 { return .failure(refusal(got)) }
            return .success([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
        }
        return try result.get()
    }

    /// A value of a key of `message(keys:values:missing:)`.
    package enum KeyValue: Sendable {
        case long(Int)
        case double(Double)
        case string(String)
    }

    /// The library's messages: the text of its error code, and its first complaint.
    private static func refusal(_ code: Int32, of key: String? = nil) -> GRIBError {
        let complaint = String(cString: billow_codes_complaint())
        let general =
            code == Int32(BILLOW_CODES_ASSERTION) ? "assertion failed" : String(cString: codes_get_error_message(code))
        let parts = [key, general, complaint.isEmpty ? nil : complaint].compactMap { $0 }
        return .decoder(code: Int(code), message: parts.joined(separator: ": "))
    }
}
