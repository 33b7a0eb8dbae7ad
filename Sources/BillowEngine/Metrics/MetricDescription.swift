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
    /// The upper bounds of a histogram's buckets except the last, in seconds, in rising order.
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
        "Responses by route and status class, such as 2xx.")
    package static let requestDuration = Self(
        "billow_http_request_duration_seconds", .histogram, labels: ["method", "route"],
        buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
        "Time from a request's head to the response's head.")
    package static let requestsInFlight = Self(
        "billow_http_requests_in_flight", .gauge, "Requests whose response is not completely sent.")
    package static let connections = Self("billow_http_connections", .gauge, "Open connections of clients.")
    package static let certificateEnd = Self(
        "billow_tls_certificate_expiry_timestamp_seconds", .gauge,
        "The end of the certificate's validity, in Unix seconds.")
    package static let connectionLimit = Self(
        "billow_http_connections_limit", .gauge, "The limit of open connections.")
    package static let rateLimited = Self(
        "billow_rate_limited_total", .counter, labels: ["client"],
        "Requests beyond the limit of their address or key.")
    package static let listeners = Self("billow_event_listeners", .gauge, "Clients that listen for events.")
    package static let listenerLimit = Self(
        "billow_event_listeners_limit", .gauge, "The limit of clients that listen for events.")

    // MARK: Work

    package static let renderDuration = Self(
        "billow_render_duration_seconds", .histogram, labels: ["format", "layer", "zoom"],
        buckets: [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
        "Time to draw and encode a tile that no cache held.")
    package static let workRunning = Self(
        "billow_work_running", .gauge, labels: ["class"], "Running jobs of a work class.")
    package static let workWaiting = Self(
        "billow_work_waiting", .gauge, labels: ["class"], "Waiting jobs of a work class.")
    package static let workQueueLimit = Self(
        "billow_work_queue_limit", .gauge, labels: ["class"], "The limit of waiting jobs of a work class.")
    package static let workRefused = Self(
        "billow_work_refused_total", .counter, labels: ["class"], "Jobs of a work class that a full queue refused."
    )

    package static let exportJobs = Self(
        "billow_export_jobs", .gauge, labels: ["status"], "Export jobs that have not expired.")
    package static let exportJobsEnded = Self(
        "billow_export_jobs_ended_total", .counter, labels: ["status"], "Export jobs that ended, by their last status.")
    package static let exportJobBytes = Self(
        "billow_export_job_bytes", .gauge, "Bytes of the files of export jobs.")

    // MARK: Caches

    package static let cacheHits = Self(
        "billow_cache_hits_total", .counter, labels: ["cache"], "Lookups that found a value in the cache.")
    package static let cacheMisses = Self(
        "billow_cache_misses_total", .counter, labels: ["cache"], "Lookups that found no value in the cache.")
    package static let cacheEntries = Self("billow_cache_entries", .gauge, labels: ["cache"], "Values in a cache.")
    package static let cacheBytes = Self("billow_cache_bytes", .gauge, labels: ["cache"], "Bytes in a cache.")
    package static let cacheBudgetUsed = Self(
        "billow_cache_budget_used_bytes", .gauge, "Bytes in all caches that share the budget.")
    package static let cacheBudget = Self(
        "billow_cache_budget_bytes", .gauge, "The byte budget of these caches, set by cacheMegabytes.")

    // MARK: Data

    package static let version = Self("billow_version", .gauge, "The version of the served snapshot.")
    package static let publications = Self(
        "billow_publications_total", .counter, "Snapshots published since the start.")
    package static let publicationTime = Self(
        "billow_publication_timestamp_seconds", .gauge, "The time that the snapshot shows, in Unix seconds.")
    package static let liveObservations = Self(
        "billow_live_observations", .gauge, "Observations in memory.")
    package static let layerStale = Self(
        "billow_layer_stale", .gauge, labels: ["layer"], "1 if a layer is stale.")
    package static let layerAge = Self(
        "billow_layer_data_age_seconds", .gauge, labels: ["layer"],
        "Age of the data of the layer's least recently fetched source.")

    // MARK: Sources

    package static let sourceReachable = Self(
        "billow_source_reachable", .gauge, labels: ["source"], "1 if the upstream answered the last request.")
    package static let sourceKeyAccepted = Self(
        "billow_source_key_accepted", .gauge, labels: ["source"], "0 if the upstream refuses the key.")
    package static let sourceStale = Self(
        "billow_source_stale", .gauge, labels: ["source"], "1 if a source is stale.")
    package static let sourceAge = Self(
        "billow_source_age_seconds", .gauge, labels: ["source"], "Time since the last successful fetch of all areas.")
    package static let sourceLag = Self(
        "billow_source_lag_seconds", .gauge, labels: ["source"], "Age of a source's newest record.")
    package static let sourceFailures = Self(
        "billow_source_consecutive_failures", .gauge, labels: ["source"], "Failed rounds since the last successful one."
    )
    package static let sourceRounds = Self(
        "billow_source_rounds_total", .counter, labels: ["source", "result"], "Rounds by result: ok or failed.")
    package static let sourceRecords = Self(
        "billow_source_records_total", .counter, labels: ["source", "result"],
        "Records by result: accepted, duplicate or retracted.")
    package static let sourceSkipped = Self(
        "billow_source_skipped_total", .counter, labels: ["source", "reason"], "Records that can't be used, by reason.")
    package static let sourceAdjusted = Self(
        "billow_source_adjusted_total", .counter, labels: ["source", "reason"],
        "Records that were adjusted before use, by adjustment.")
    package static let sourceReceived = Self(
        "billow_source_received_bytes_total", .counter, labels: ["source"],
        "Bytes of response bodies and events received from the upstream.")
    package static let sourceListening = Self(
        "billow_source_listening", .gauge, labels: ["source"],
        "1 if the events of the upstream arrive, by which a mirror fetches at once.")
    package static let sourceEventRounds = Self(
        "billow_source_event_rounds_total", .counter, labels: ["source"], "Rounds that the upstream's events caused.")

    // MARK: Store

    package static let storeBytes = Self(
        "billow_store_bytes", .gauge, labels: ["file"], "Bytes of the database and of its write-ahead log.")
    package static let storeRows = Self(
        "billow_store_rows", .gauge, labels: ["table"], "Rows of a table, counted at most every ten minutes.")
    package static let storeFree = Self(
        "billow_store_free_bytes", .gauge, "Free space for an unprivileged user on the database's disk.")
    package static let storeFailing = Self("billow_store_failing", .gauge, "1 while the database can't be read.")
    package static let storeDamaged = Self(
        "billow_store_damaged_rows", .gauge, labels: ["table"], "Rows that can't be read.")

    // MARK: Backups

    package static let backups = Self(
        "billow_backups_total", .counter, labels: ["step", "result"],
        "Scheduled backups and their copy commands by result: ok or failed.")
    package static let backupTime = Self(
        "billow_backup_timestamp_seconds", .gauge, "The time of the newest scheduled backup, in Unix seconds.")
    package static let backupInterval = Self(
        "billow_backup_interval_seconds", .gauge, "The interval between scheduled backups.")

    // MARK: The process

    package static let build = Self(
        "billow_build_info", .gauge, labels: ["version"], "Always 1; the label names the release and the commit.")
    package static let draining = Self("billow_draining", .gauge, "1 while the server is stopping.")
    package static let syncLeader = Self(
        "billow_sync_leader", .gauge,
        "1 if this server fetches for all servers on a PostgreSQL database, 0 if another one does.")
    package static let traceSpans = Self(
        "billow_trace_spans_total", .counter, labels: ["result"],
        "Recorded spans by result: exported, failed, or dropped by a full queue.")
    package static let residentMemory = Self(
        "process_resident_memory_bytes", .gauge, "Resident memory.")
    package static let memory = Self(
        "billow_memory_bytes", .gauge, labels: ["part"],
        "Memory of the parts that grow with data and requests.")
    package static let descriptors = Self("process_open_fds", .gauge, "Open descriptors.")
    package static let startTime = Self(
        "process_start_time_seconds", .gauge, "When the server started, in Unix seconds.")

    /// Every one, in the order of the exposition.
    package static let all = [
        build, startTime, residentMemory, memory, descriptors, draining, syncLeader, traceSpans, requests,
        requestDuration, requestsInFlight, connections, connectionLimit, certificateEnd, rateLimited, listeners,
        listenerLimit, renderDuration,
        workRunning, workWaiting, workQueueLimit, workRefused, exportJobs, exportJobsEnded, exportJobBytes, cacheHits,
        cacheMisses, cacheEntries, cacheBytes, cacheBudgetUsed, cacheBudget,
        version, publications, publicationTime, liveObservations, layerStale, layerAge, sourceReachable,
        sourceKeyAccepted, sourceStale, sourceAge, sourceLag, sourceFailures, sourceRounds, sourceRecords,
        sourceSkipped, sourceAdjusted, sourceReceived, sourceListening, sourceEventRounds, storeBytes, storeRows,
        storeFree, storeFailing, storeDamaged,
        backups, backupTime, backupInterval,
    ]
}
