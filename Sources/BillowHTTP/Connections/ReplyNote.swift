import BillowEngine
import NIOCore
import SpanKit

/// What the journal gets to know of a reply from the microcache.
struct ReplyNote {
    var metrics: RequestMetrics.Route?
    var method: String
    var address: String
    var id: String
    var meaning: RepeatedFields.Meaning
    private let requestedAt = NIODeadline.now()

    init(
        metrics: RequestMetrics.Route?, method: String, address: String, id: String, meaning: RepeatedFields.Meaning
    ) {
        self.metrics = metrics
        self.method = method
        self.address = address
        self.id = id
        self.meaning = meaning
    }

    /// Counts, logs and traces the reply, when it is written.
    /// - Parameter bytes: the length of the body.
    func record(status: Int, bytes: Int, in journal: RequestJournal) {
        let nanoseconds = (NIODeadline.now() - requestedAt).nanoseconds
        metrics?.note(status: status, nanoseconds: nanoseconds)
        journal.accessLog?.note(
            id: id, client: meaning.client, method: method, path: address.prefix { $0 != "?" }, status: status,
            bytes: bytes, nanoseconds: nanoseconds)
        guard Spans.areRecorded else { return }
        RequestTrace.record(
            id: id, parent: meaning.parent, route: metrics, status: status, bytes: bytes, nanoseconds: nanoseconds)
    }
}
