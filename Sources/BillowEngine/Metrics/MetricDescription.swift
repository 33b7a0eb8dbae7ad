/// A metric as the exposition and the documentation have it.
package struct MetricDescription: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case counter, gauge, histogram
    }

    package let name: String
    package let kind: Kind
    /// The names of its labels, in their order. No label has a value that a client chooses.
    package let labels: [String]
    /// At most 20 words.
    package let help: String
    /// The upper bounds of a histogram's buckets but for the last, in seconds, rising.
    package let buckets: [Double]

    private init(
        _ name: String, _ kind: Kind, labels: [String] = [], buckets: [Double] = [], _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.buckets = buckets
    }
}

extension MetricDescription {
    // MARK: Requests

    package static let requests = Self(
        "billow_http_requests_total", .counter, labels: ["method", "route", "status"],
        "Answers by route and class of status, such as 2xx.")
    package static let requestDuration = Self(
        "billow_http_request_duration_seconds", .histogram, labels: ["method", "route"],
        buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
        "From a request's head to its answer's head.")
    package static let requestsInFlight = Self(
        "billow_http_requests_in_flight", .gauge, "Requests whose last byte isn't handed over yet.")
    package static let connections = Self("billow_http_connections", .gauge, "Open connections of clients.")
    package static let connectionLimit = Self(
        "billow_http_connections_limit", .gauge, "Connections at once, at most.")
    package static let listeners = Self("billow_event_listeners", .gauge, "Clients that listen for events.")
    package static let listenerLimit = Self("billow_event_listeners_limit", .gauge, "Listeners at once, at most.")

    // MARK: Work

    package static let renderDuration = Self(
        "billow_render_duration_seconds", .histogram, labels: ["format", "layer", "zoom"],
        buckets: [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
        "Drawing and encoding of a tile that no cache had.")
    package static let workRunning = Self(
        "billow_work_running", .gauge, labels: ["class"], "Jobs of a class of work that run.")
    package static let workWaiting = Self(
        "billow_work_waiting", .gauge, labels: ["class"], "Jobs of a class of work that wait.")
    package static let workQueueLimit = Self(
        "billow_work_queue_limit", .gauge, labels: ["class"], "Jobs of a class of work that may wait.")
    package static let workRefused = Self(
        "billow_work_refused_total", .counter, labels: ["class"], "Jobs of a class of work that its full queue refused."
    )

    // MARK: Caches

    package static let cacheHits = Self(
        "billow_cache_hits_total", .counter, labels: ["cache"], "Values that a cache had.")
    package static let cacheMisses = Self(
        "billow_cache_misses_total", .counter, labels: ["cache"], "Values that a cache hadn't.")
    package static let cacheEntries = Self("billow_cache_entries", .gauge, labels: ["cache"], "Values in a cache.")
    package static let cacheBytes = Self("billow_cache_bytes", .gauge, labels: ["cache"], "Bytes in a cache.")
    package static let cacheBudgetUsed = Self(
        "billow_cache_budget_used_bytes", .gauge, "Bytes in all caches that share the budget.")
    package static let cacheBudget = Self(
        "billow_cache_budget_bytes", .gauge, "The budget of these caches, as cacheMegabytes sets it.")

    // MARK: Data

    package static let version = Self("billow_version", .gauge, "The version that is served.")
    package static let publications = Self(
        "billow_publications_total", .counter, "Snapshots published since the start.")
    package static let publicationTime = Self(
        "billow_publication_timestamp_seconds", .gauge, "The time that the snapshot shows, in Unix seconds.")
    package static let liveObservations = Self(
        "billow_live_observations", .gauge, "Observations in memory.")
    package static let layerStale = Self(
        "billow_layer_stale", .gauge, labels: ["layer"], "1 where a layer is stale.")
    package static let layerAge = Self(
        "billow_layer_data_age_seconds", .gauge, labels: ["layer"], "Since a layer's quietest source was fetched.")

    // MARK: Sources

    package static let sourceReachable = Self(
        "billow_source_reachable", .gauge, labels: ["source"], "1 where the upstream answered the last time.")
    package static let sourceKeyAccepted = Self(
        "billow_source_key_accepted", .gauge, labels: ["source"], "0 where the upstream refuses the key.")
    package static let sourceStale = Self(
        "billow_source_stale", .gauge, labels: ["source"], "1 where a source is stale.")
    package static let sourceAge = Self(
        "billow_source_age_seconds", .gauge, labels: ["source"], "Since the last successful fetch of all areas.")
    package static let sourceLag = Self(
        "billow_source_lag_seconds", .gauge, labels: ["source"], "Between a source's newest record and now.")
    package static let sourceFailures = Self(
        "billow_source_consecutive_failures", .gauge, labels: ["source"], "Failed rounds since the last good one.")
    package static let sourceRounds = Self(
        "billow_source_rounds_total", .counter, labels: ["source", "result"], "Rounds by result: ok or failed.")
    package static let sourceRecords = Self(
        "billow_source_records_total", .counter, labels: ["source", "result"],
        "Records by result: accepted, duplicate or retracted.")
    package static let sourceSkipped = Self(
        "billow_source_skipped_total", .counter, labels: ["source", "reason"], "Records that can't be used, by reason.")
    package static let sourceAdjusted = Self(
        "billow_source_adjusted_total", .counter, labels: ["source", "reason"], "Records used after a change, by it.")
    package static let sourceReceived = Self(
        "billow_source_received_bytes_total", .counter, labels: ["source"], "Bytes of answers' bodies.")

    // MARK: Store

    package static let storeBytes = Self(
        "billow_store_bytes", .gauge, labels: ["file"], "Bytes of the database and of its write-ahead log.")
    package static let storeRows = Self(
        "billow_store_rows", .gauge, labels: ["table"], "Rows of a table, counted every ten minutes at most.")
    package static let storeFree = Self(
        "billow_store_free_bytes", .gauge, "Room on the database's disk for an ordinary user.")
    package static let storeFailing = Self("billow_store_failing", .gauge, "1 while the database can't be read.")
    package static let storeDamaged = Self(
        "billow_store_damaged_rows", .gauge, labels: ["table"], "Rows that can't be read.")

    // MARK: The process

    package static let build = Self(
        "billow_build_info", .gauge, labels: ["version"], "1, with the release and the commit.")
    package static let draining = Self("billow_draining", .gauge, "1 while the server stops.")
    package static let residentMemory = Self(
        "process_resident_memory_bytes", .gauge, "Resident memory.")
    package static let descriptors = Self("process_open_fds", .gauge, "Open descriptors.")
    package static let startTime = Self(
        "process_start_time_seconds", .gauge, "When the server started, in Unix seconds.")

    /// Every one, in the order of the exposition.
    package static let all = [
        build, startTime, residentMemory, descriptors, draining, requests, requestDuration, requestsInFlight,
        connections, connectionLimit, listeners, listenerLimit, renderDuration, workRunning, workWaiting,
        workQueueLimit, workRefused, cacheHits, cacheMisses, cacheEntries, cacheBytes, cacheBudgetUsed, cacheBudget,
        version, publications, publicationTime, liveObservations, layerStale, layerAge, sourceReachable,
        sourceKeyAccepted, sourceStale, sourceAge, sourceLag, sourceFailures, sourceRounds, sourceRecords,
        sourceSkipped, sourceAdjusted, sourceReceived, storeBytes, storeRows, storeFree, storeFailing, storeDamaged,
    ]
}
