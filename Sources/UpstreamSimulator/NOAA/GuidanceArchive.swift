import Foundation
import NIOCore

/// A cache of the simulated files, which are made when they are first requested.
actor GuidanceArchive {
    /// A complete file.
    struct File: Sendable {
        let bytes: ByteBuffer
        /// The lines of its index.
        let index: [String]
    }

    private struct Key: Hashable {
        let file: SimulatedGuidanceFile
        let version: Int
        let fault: Fault?
    }

    private let content: any GuidanceContent
    private let capacity: Int
    private var files: [Key: Task<File, Never>] = [:]
    /// The keys in the order of use, the most recent last.
    private var order: [Key] = []

    init(_ content: any GuidanceContent, capacity: Int) {
        self.content = content
        self.capacity = max(1, capacity)
    }

    /// The file with a fault applied. It is made once for all concurrent requests.
    func file(_ file: SimulatedGuidanceFile, _ fault: Fault?) async -> File {
        let damage: Fault? =
            switch fault {
            case .truncatedMessage, .wrongLength, .wrongTypes: fault
            default: nil
            }
        let key = Key(file: file, version: content.version(of: file), fault: damage)
        let task = files[key] ?? Task { [content] in await Self.make(file, content, damage) }
        files[key] = task
        order.removeAll { $0 == key }
        order.append(key)
        while order.count > capacity { files[order.removeFirst()] = nil }
        // Shutdown must not wait for a file that no client will read.
        let made = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if task.isCancelled { files[key] = nil }
        return made
    }

    private static func make(
        _ file: SimulatedGuidanceFile, _ content: any GuidanceContent, _ fault: Fault?
    ) async -> File {
        var buffer = ByteBuffer()
        var index: [String] = []
        for (place, message) in content.messages(of: file).enumerated() where !Task.isCancelled {
            var bytes = await content.bytes(of: message, in: file)
            if place % 3 == 2, bytes.count > 16 {
                if fault == .truncatedMessage { bytes.removeLast(bytes.count / 2) }
                if fault == .wrongLength { bytes[15] &+= 1 }
            }
            index.append(line(file, message, place + 1, offset: buffer.writerIndex))
            if fault == .wrongTypes, place % 5 == 4 { index[place] = "\(place + 1):none:d=yesterday" }
            buffer.writeBytes(bytes)
        }
        return File(bytes: buffer, index: index)
    }

    private static func line(
        _ file: SimulatedGuidanceFile, _ message: SimulatedGuidanceMessage, _ number: Int, offset: Int
    ) -> String {
        let time = Date(timeIntervalSince1970: Double(file.runSeconds)).formatted(
            .iso8601.year().month().day().dateSeparator(.omitted))
        let hour = file.runSeconds % 86_400 / 3_600
        let step = file.leadHours == 0 ? "anl" : "\(file.leadHours) hour fcst"
        return
            "\(number):\(offset):d=\(time)\(hour < 10 ? "0" : "")\(hour):\(message.parameter):\(message.level):\(step):"
    }
}
