/// A file to download, or the rest of it.
package struct GuidanceDownload: Sendable {
    package var file: GuidanceFile
    package var selection: MessageSelection
    /// The progress of an earlier download of the file.
    package var progress: GuidanceProgress
    /// The number of messages in a complete file, for one without an index.
    package var expectedMessages: Int

    package init(
        _ file: GuidanceFile, _ selection: MessageSelection = .everything,
        progress: GuidanceProgress = GuidanceProgress()
    ) {
        expectedMessages = file.product.messageCount
        self.file = file
        self.selection = selection
        self.progress = progress
    }
}

/// The progress of a file's download. The caller stores it with the messages, and updates it by `note` at each event.
package struct GuidanceProgress: Sendable, Hashable, Codable {
    /// The version of the file that the messages belong to.
    package private(set) var validators = GuidanceValidators()
    /// The downloaded messages of an indexed file.
    package private(set) var keys: Set<GuidanceMessageKey> = []
    /// The offset in bytes of the next message in a file without an index.
    package private(set) var nextOffset = 0
    /// The number of that message, from 1.
    package private(set) var nextNumber = 1

    package init() {}

    /// Updates the progress after an event.
    package mutating func note(_ event: GuidanceEvent) {
        switch event {
        case .began(let plan):
            if plan.startsOver { self = GuidanceProgress() }
            validators = plan.validators
        case .message(let message):
            keys.formUnion(message.keys)
            if message.keys.isEmpty {
                nextOffset = max(nextOffset, message.offset + message.bytes.count)
                nextNumber = max(nextNumber, message.number + 1)
            }
        case .refused: break
        }
    }
}

/// A complete message of a file.
package struct GuidanceMessage: Sendable, Hashable {
    package let file: GuidanceFile
    /// The number in the file, from 1.
    package let number: Int
    /// The offset in the file in bytes.
    package let offset: Int
    /// The keys of its fields in the index. Empty without an index.
    package let keys: [GuidanceMessageKey]
    /// The whole message. Only its frame has been validated.
    package let bytes: [UInt8]
}

/// The events of a download, in order.
package enum GuidanceEvent: Sendable {
    /// The download of a version starts. It is repeated if the file is replaced during the download.
    case began(Plan)
    case message(GuidanceMessage)
    /// A message is invalid. The rest of the file is used.
    case refused(MessageFrame.FrameError, number: Int, keys: [GuidanceMessageKey])

    /// The plan of a download.
    package struct Plan: Sendable, Hashable {
        package let file: GuidanceFile
        package let validators: GuidanceValidators
        /// Whether earlier messages are of another version and must be dropped.
        package let startsOver: Bool
        /// The number of messages to download; nil without an index.
        package let messageCount: Int?
        /// The number of bytes to receive, including gaps; nil if the length is unknown.
        package let byteCount: Int?
        /// The number of requests, if none fails.
        package let requestCount: Int?
        /// The number of invalid lines in the index, by reason.
        package let refusedLines: [MessageIndex.LineError: Int]
        /// Whether the response is marked as simulated.
        package let isSimulated: Bool
    }
}

/// The caller's decision after an event.
package enum GuidanceStep: Sendable, Hashable {
    case goOn
    /// Ends the download without an error.
    case stop
}

/// How a download ended.
package struct GuidanceOutcome: Sendable, Hashable {
    package enum Ending: String, Sendable, Hashable {
        /// The file doesn't exist.
        case absent
        /// The file is still being written: it lacks its index, its end, or selected messages.
        case growing
        /// All selected messages of this version have been downloaded, except for invalid ones.
        case whole
        /// The caller stopped it.
        case stopped
    }

    package var ending: Ending
    /// The number of messages that this call returned.
    package var messages = 0
    /// The number of invalid messages by `MessageFrame.FrameError.code`.
    package var refused: [String: Int] = [:]
    /// Selected messages that aren't in the index.
    package var missing: Set<GuidanceMessageKey> = []
    /// The number of bytes received for messages.
    package var bytes = 0
}
