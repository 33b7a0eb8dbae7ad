/// A file to download, or what is left of it.
package struct GuidanceDownload: Sendable {
    package var file: GuidanceFile
    package var selection: MessageSelection
    /// How far an earlier download of the file came.
    package var progress: GuidanceProgress
    /// How many messages a file without an index must have to be whole.
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

/// How far the download of a file came. The caller keeps it with the messages, by `note` at each event.
package struct GuidanceProgress: Sendable, Hashable, Codable {
    /// The version of the file that the messages are of.
    package private(set) var validators = GuidanceValidators()
    /// The messages of an indexed file that are there.
    package private(set) var keys: Set<GuidanceMessageKey> = []
    /// Where the next message of a file without an index begins, in bytes.
    package private(set) var nextOffset = 0
    /// Its number, from 1.
    package private(set) var nextNumber = 1

    package init() {}

    /// Follows an event.
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

/// One whole message of a file.
package struct GuidanceMessage: Sendable, Hashable {
    package let file: GuidanceFile
    /// In the file, from 1.
    package let number: Int
    /// Where it begins in the file, in bytes.
    package let offset: Int
    /// What it is by the index: one key for each field. Empty where there is no index.
    package let keys: [GuidanceMessageKey]
    /// The whole message. Only its frame has been checked.
    package let bytes: [UInt8]
}

/// What happens during a download, in order.
package enum GuidanceEvent: Sendable {
    /// A version of the file is going to be read. Comes again when the file is replaced meanwhile.
    case began(Plan)
    case message(GuidanceMessage)
    /// A message that is none. The rest of the file is used.
    case refused(MessageFrame.Refusal, number: Int, keys: [GuidanceMessageKey])

    /// What a download is about to do.
    package struct Plan: Sendable, Hashable {
        package let file: GuidanceFile
        package let validators: GuidanceValidators
        /// Whether earlier messages are of another version, and must be dropped.
        package let startsOver: Bool
        /// Messages to come; nil where there is no index.
        package let messageCount: Int?
        /// Bytes to come, gaps included; nil where the length is not known.
        package let byteCount: Int?
        /// Requests to come, where all goes well.
        package let requestCount: Int?
        /// Lines of the index that were refused.
        package let refusedLines: [MessageIndex.Refusal: Int]
        /// Whether the answer said that it is made up.
        package let isSimulated: Bool
    }
}

/// What the caller wants after an event.
package enum GuidanceStep: Sendable, Hashable {
    case goOn
    /// Ends the download well.
    case stop
}

/// How a download ended.
package struct GuidanceOutcome: Sendable, Hashable {
    package enum Ending: String, Sendable, Hashable {
        /// The file isn't there.
        case absent
        /// The file is still being written: it lacks its index, its end, or wanted messages.
        case growing
        /// All that was wanted of this version is there, but for refused messages.
        case whole
        /// The caller stopped it.
        case stopped
    }

    package var ending: Ending
    /// Messages given to the caller by this call.
    package var messages = 0
    /// Refused messages by `MessageFrame.Refusal.code`.
    package var refused: [String: Int] = [:]
    /// Wanted, but not in the index.
    package var missing: Set<GuidanceMessageKey> = []
    /// Bytes of bodies received for messages.
    package var bytes = 0
}
