import API
import SatchelCore
import HTTPServer
import Ingest
import Jobs
import Logging
import Stores

extension Setting {
    /// All settings, in the order of the documentation.
    static let all: [Setting] = [
        // Locations.
        Setting(
            "store", \.store, .store,
            "Store to use: a directory, created on first use; 'memory:' to keep everything in RAM until exit; or, for many nodes, a PostgreSQL URL as for libpq, such as postgres://user@host/name. Put the password in PGPASSWORD or the password file."
        ),
        Setting(
            "blobs", \.blobs,
            .text(named: "s3://bucket/prefix") { $0.hasPrefix("s3://") ? nil : "must be s3://bucket/prefix" },
            "Bucket for the bytes of a store in PostgreSQL. Credentials are found as by AWS's tools: environment, web identity, shared file, container or instance."
        ),
        Setting(
            "spool", \.spool, .path,
            "Local directory in which a node of a store in PostgreSQL receives sources and stages outputs. Its contents may be lost."
        ),
        Setting(
            "access.keys", \.accessKeys, .path,
            "File of the access keys, from which tokens are derived; created on first use. All nodes of a store share it. Keep it outside the store and its backups."
        ),
        Setting(
            "role", \.settings.role, .choice,
            "Role of this node among the nodes of its store: 'api' takes requests, 'worker' processes jobs, 'all' does both. A worker answers only /livez, /readyz and /metrics."
        ),
        Setting(
            "listen", \.listen, .listen,
            "Address and port to listen on; port 0 for any free one. Interfaces other than loopback need an API key and public_url."
        ),
        Setting(
            "public_url", \.publicURL, .publicURL, default: "http://127.0.0.1:PORT on loopback",
            "URL at which clients reach the service. Content URLs start with it. It is never taken from a request."),
        Setting(
            "tls.certificate", \.tlsCertificate, .path,
            "PEM file with the certificate and its chain. With it and tls.key, the service uses TLS."),
        Setting("tls.key", \.tlsKey, .path, "PEM file with the private key of the certificate."),
        Setting(
            "content.origins", list: \.settings.contentOrigins, .pageOrigin,
            "Origins of web pages that may read content, not only show it; * for all."),
        Setting(
            "content.accel_prefix", \.settings.accelPrefix,
            .text(named: "path") {
                $0.hasPrefix("/") && $0.hasSuffix("/")
                    ? nil : "must begin and end with a slash, such as /satchel-blobs/"
            },
            "Location in nginx that serves content. The service answers with an X-Accel-Redirect to it instead of the bytes."
        ),
        Setting(
            "content.redirect", \.settings.contentRedirect, .choice,
            "Redirects to the bucket instead of the bytes, for links with the delivery 'shared'. A redirect is valid for one minute."
        ),
        Setting(
            "content.cache_bytes", \.settings.cacheBytes, .bytes(atLeast: 0),
            "Memory for caching renditions of up to 64 KiB from a bucket; 0 turns the cache off. Access is still checked for every read."
        ),
        Setting(
            "grace", \.grace, .seconds(0...3600),
            "Time for running jobs to finish after SIGTERM. Unfinished jobs are handed back."),

        // The database, the nodes and the bucket.
        Setting(
            "postgres.connections", \.database.connections, .count(1...100),
            "Number of database connections of this node for writes. Half as many more are opened for reads."),
        Setting(
            "postgres.pooled", \.database.isPooled, .flag,
            "Use of a connection pooler in transaction mode, such as PgBouncer. If true, the service uses no session features."
        ),
        Setting(
            "postgres.notify", \.database.wakeups, .choice,
            "Wake-up of other nodes by NOTIFY. 'auto' tests whether NOTIFY works; behind a pooler in transaction mode it does not. Without it, nodes look for work every 100 ms."
        ),
        Setting(
            "nodes.dead_after", \.database.deadAfter, .seconds(3...300),
            "Time without a heartbeat after which a node of a store in PostgreSQL counts as dead. Other nodes restart its jobs."
        ),
        Setting(
            "claims.duration", \.claimDuration, .seconds(5...600),
            "Duration of a worker's claim on a job. The worker renews it three times in that time; if it does not, the job is restarted."
        ),
        Setting(
            "cluster.advertise", \.database.advertises, .nodeURL,
            "URL at which other nodes of a store in PostgreSQL reach this one, such as http://{host}:8080; {host} is replaced by this machine's name. Without it, clients that follow a job on another node see only its beginning and end."
        ),
        Setting(
            "garbage.delay", \.database.garbageDelay, .seconds(0...86_400),
            "Time for which bytes stay in the bucket after their last record was deleted, in case a database failover undoes the deletion."
        ),
        Setting(
            "s3.endpoint", \.bucket.endpoint, .publicURL, default: "AWS",
            "URL of the bucket's server, if it is not AWS."),
        Setting(
            "s3.region", \.bucket.region, .text(named: "region") { $0.isEmpty ? "must be a region" : nil },
            default: "AWS_REGION, or us-east-1", "Region of the bucket."),
        Setting(
            "s3.path_style", \.bucket.usesPathStyle, .flag,
            "Bucket name in the path of URLs instead of in the host, as many self-hosted servers need it."),
        Setting(
            "s3.ca", \.bucket.certificateAuthorities, .path, default: "the system's",
            "PEM file of certificate authorities. Only these are trusted for the bucket's server."),
        Setting(
            "s3.encryption", \.bucket.encryption, .choice,
            "Encryption of objects by the server: as configured for the bucket (none), with keys of S3 (s3), or with a key of the key management service (kms)."
        ),
        Setting(
            "s3.kms_key", \.bucket.key, .text(named: "key") { $0.isEmpty ? "must be the id of a key" : nil },
            default: "the account's", "ID of the key for s3.encryption 'kms'."),
        Setting(
            "s3.storage_class", \.bucket.storageClass,
            .text(named: "class") { $0.isEmpty ? "must be a storage class, such as STANDARD_IA" : nil },
            default: "the bucket's", "Storage class of new objects."),
        Setting(
            "s3.connections", \.bucket.connections, .count(1...1000),
            "Maximum number of connections to the bucket's server."),

        // Access to the service, and to other servers.
        Setting(
            "api_keys.required", \.settings.keysRequired, .flag,
            "API key requirement. Only a service on the loopback interface may turn it off. Then every local program has the role 'admin'; web pages have no access."
        ),
        Setting(
            "console", \.settings.hasConsole, .flag,
            "Operator's console at /console. On interfaces other than loopback, it needs a public_url with https."),
        Setting("metrics.public", \.settings.metricsArePublic, .flag, "Access to /metrics without an API key."),
        Setting(
            "fetch.allow", list: \.fetchAllow, .allowance,
            "Private hosts, addresses or CIDRs that may be fetched from, with an optional port. Other private addresses are blocked."
        ),
        Setting(
            "fetch.redirects", \.fetchRedirects, .count(0...50),
            "Maximum number of redirects that a fetch follows. Each target is checked like the URL itself."),
        Setting(
            "fetch.trace", list: \.fetchTrace, .origin,
            "Origins that receive the traceparent header of a submission when sources are fetched from them. The origin of public_url always receives it, other origins never."
        ),
        Setting(
            "callback.allow", list: \.webhookAllow, .allowance,
            "Private hosts, addresses or CIDRs that callbacks may call, with an optional port."),

        // Scanning.
        Setting(
            "scan.url", \.scan.url, .scanner,
            "URL of a scanner, which receives each source by POST and answers {\"verdict\": \"yes\" or \"no\", \"reason\": text}."
        ),
        Setting(
            "scan.socket", \.scan.socket,
            .text(named: "path or host:port") {
                ClamdScanner.Address($0) == nil
                    ? "must be a path or host:port, such as /run/clamav/clamd.ctl or 127.0.0.1:3310" : nil
            }, "Socket of ClamAV's daemon, which scans each source. Set either this or scan.url."),
        Setting(
            "scan.timeout", \.scan.timeout, .seconds(0.1...600),
            "Maximum duration of a scan. The deadline of the job applies as well."),
        Setting(
            "scan.failure", \.scan.failure, .choice,
            "Behavior if a scan gives no verdict: 'closed' delivers nothing and retries, 'open' delivers and adds a step to the record."
        ),

        // Decoding and profiles.
        Setting(
            "memory", \.memory, .bytes(atLeast: 256 << 20), default: "half of the machine's memory",
            "Memory for all codec processes together."),
        Setting(
            "codecs", \.codecs, .count(1...256), default: "the number of cores plus one",
            "Number of codec processes that run at the same time."),
        Setting(
            "sandbox", \.sandbox, .choice,
            "Sandbox layers that must be active: the required ones (standard), also the optional ones (full), or none of them (none). 'satchel doctor' lists them. Use 'none' for trusted sources only."
        ),
        Setting(
            "jpeg.fast_huffman", \.fastHuffman, .flag,
            "Use of Satchel's fast decoder for JPEGs. It gives the same result in half to two thirds of the time (see 'satchel doctor')."
        ),
        Setting(
            "profiles", \.profiles, .path,
            "YAML file of profiles to add to the built-in ones (see 'satchel profile')."),
        Setting(
            "categories", map: \.settings.categories,
            "Profiles by APNs category, such as {message: message}, for payloads that do not name a profile."),
        Setting(
            "payload.pointers", list: \.settings.payloadPointers,
            .text(named: "JSON pointer") { text in
                // RFC 6901: a tilde is the start of ~0 or ~1.
                let isPointer =
                    text.hasPrefix("/")
                    && text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
                        .allSatisfy { $0.first == "0" || $0.first == "1" }
                return isPointer ? nil : "must be a JSON pointer, such as /custom/image"
            },
            "JSON pointers to media URLs in push payloads, in addition to the known conventions."),
        Setting(
            "lease.ttl", \.settings.leaseTTL, .seconds(1...2_592_000),
            "Lifetime of the URLs in the response for a finished job, unless the submission says otherwise."),
        Setting(
            "maintenance.interval", \.sweepInterval, .seconds(1...86_400),
            "Time between two cleanups of the store, which delete expired and orphaned files."),
        Setting(
            "audit.keep", \.auditKept, .seconds(86_400...315_360_000),
            "Retention time of the audit log (see 'satchel audit')."),

        // Logs.
        Setting("log.level", \.logLevel, .choice, "Least severe level to log."),
        Setting("log.format", \.logFormat, .choice, "Format of log lines on standard output."),
        Setting(
            "log.requests", \.settings.logsRequests, .flag, "Log line for each request, with the template of its route."
        ),

        // Limits of sources.
        Setting("limits.image_bytes", \.settings.limits.imageBytes, .bytes(), "Maximum size of an image or animation."),
        Setting(
            "limits.clip_bytes", \.settings.limits.clipBytes, .bytes(),
            "Maximum size of a video or sound. Fetches and uploads stop at this size."),
        Setting(
            "limits.still_pixels", \.settings.limits.stillPixels, .count(1...10_000_000_000),
            "Maximum number of pixels of a still image. An image may also be rejected because its codec process would need too much memory."
        ),
        Setting(
            "limits.frame_pixels", \.settings.limits.framePixels, .count(1...1_000_000_000),
            "Maximum number of pixels of a frame of an animation or video."),
        Setting(
            "limits.side", \.settings.limits.side, .count(1...1_000_000),
            "Maximum width and height of an image or frame, in pixels."),
        Setting(
            "limits.animation_pixels", \.settings.limits.animationPixels, .count(1...100_000_000_000),
            "Maximum number of pixels of all frames of an animation together."),
        Setting(
            "limits.animation_frames", \.settings.limits.animationFrames, .count(1...100_000),
            "Maximum number of frames of an animation."),
        Setting(
            "limits.streams", \.settings.limits.streams, .count(1...64),
            "Maximum number of tracks to examine in a clip."),
        Setting("limits.icc_bytes", \.settings.limits.iccBytes, .bytes(), "Maximum size of an embedded color profile."),

        // Quotas of tenants.
        Setting(
            "quotas.stored_bytes", \.settings.quotas.storedBytes, .bytes(),
            "Maximum size of all stored renditions of a tenant."),
        Setting(
            "quotas.pending_jobs", \.settings.quotas.pendingJobs, .count(1...10_000_000),
            default: "half of intake.queue",
            "Maximum number of unfinished jobs of a tenant."),
        Setting(
            "quotas.live_leases", \.settings.quotas.liveLeases, .count(1...100_000_000),
            "Maximum number of active leases of a tenant."),
        Setting(
            "quotas.pending_notifications", \.settings.quotas.pendingNotifications, .count(1...10_000_000),
            "Maximum number of pending notifications of a tenant."),
        Setting(
            "quotas.open_uploads", \.settings.quotas.openUploads, .count(1...10_000_000),
            "Maximum number of open uploads of a tenant."),
        Setting(
            "quotas.upload_bytes", \.settings.quotas.uploadBytes, .bytes(), default: "half of intake.spool_bytes",
            "Maximum size of a tenant's uploads that no job has used yet. Each open upload counts 8 MiB in addition."),
        Setting(
            "quotas.submissions_per_minute", \.settings.quotas.submissionsPerMinute, .count(1...10_000_000),
            "Maximum number of submissions of a tenant per minute."),
        Setting(
            "quotas.tenants", quotas: \.settings.quotaExceptions,
            "Quotas of single tenants, with null for no limit, such as {acme: {stored_bytes: 50G, live_leases: null}}. In the environment: acme.stored_bytes=50G."
        ),

        // Limits of the intake.
        Setting(
            "intake.queue", \.settings.intake.queue, .count(1...100_000_000),
            "Maximum number of waiting jobs of all tenants. Further jobs are rejected with 429. One tenant gets at most three quarters, so that others find room."
        ),
        Setting(
            "intake.spool_bytes", \.settings.intake.spoolBytes, .bytes(),
            "Maximum size of all sources that are being received or waiting. Further ones are rejected with 429."),
        Setting(
            "intake.free_bytes", \.settings.intake.freeBytes, .bytes(),
            "Minimum free space on the store's disk. With less, new jobs are rejected with 507."),
        Setting(
            "intake.json_bytes", \.settings.intake.jsonBytes, .bytes(atLeast: 1024),
            "Maximum size of a JSON request body."),
        Setting(
            "intake.uploads", \.settings.intake.uploads, .count(1...100_000),
            "Maximum number of request bodies that are received at once. One tenant gets at most three quarters, so that others find room."
        ),

        // Uploads.
        Setting(
            "uploads.interim", \.settings.uploads.interim, .choice,
            "Interim responses (104) that report the progress of an upload. 'auto' sends none behind a proxy, because some proxies treat the first response as the final one."
        ),
        Setting(
            "uploads.origins", list: \.settings.uploads.origins, .pageOrigin,
            "Origins of web pages that may send files to an upload's URL; * for all."),

        // Connections.
        Setting(
            "connections.connections", \.settings.connections.connections, .count(1...1_000_000),
            "Maximum number of open connections. Further ones are closed immediately."),
        Setting(
            "connections.header", \.settings.connections.header, .seconds(0.1...3600),
            "Time limit for the request line and all headers."),
        Setting(
            "connections.header_bytes", \.settings.connections.headerBytes, .bytes(atLeast: 1024),
            "Maximum size of the request line and all headers."),
        Setting(
            "connections.header_fields", \.settings.connections.headerFields, .count(8...10_000),
            "Maximum number of header fields of a request."),
        Setting(
            "connections.idle", \.settings.connections.idle, .seconds(0.1...86_400),
            "Time limit for an idle connection between two requests."),
        Setting(
            "connections.minimum_rate", \.settings.connections.minimumRate, .bytes(),
            "Minimum speed of a request body, in bytes per second."),
        Setting(
            "connections.rate_window", \.settings.connections.rateWindow, .seconds(0.1...3600),
            "Time over which connections.minimum_rate is averaged."),
        Setting(
            "connections.body", \.settings.connections.body, .seconds(0.1...86_400),
            "Time limit for a whole request body."),
        Setting(
            "connections.response", \.settings.connections.response, .seconds(0.1...86_400),
            "Time limit for a whole response."),
    ]

    static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
}

extension ServiceConfiguration {
    /// `nil` if none was given.
    var publicURL: String? {
        get { settings.publicURL.isEmpty ? nil : settings.publicURL }
        set { settings.publicURL = newValue ?? "" }
    }

    /// Derives a missing public URL from the address that the service listens on.
    mutating func completePublicURL() {
        guard publicURL == nil, let address = firstAddress else { return }
        publicURL = "\(tlsCertificate == nil ? "http" : "https")://\(address)"
    }
}

extension SettingKind<String> {
    /// A password in the URL is not shown.
    static var store: Self {
        SettingKind(name: "path or URL") { text throws(SettingError) in
            guard !text.isEmpty else { throw SettingError("must be a directory or a PostgreSQL URL") }
            if case .database = StoreLocation(text) {
                do throws(StoreError) { _ = try StoreDatabase(text) } catch {
                    throw SettingError(
                        "must be a PostgreSQL URL as for libpq, such as postgres://user@host:port/name",
                        about: StoreLocation(text).description)
                }
            }
            return text
        } show: {
            .text(StoreLocation($0).description)
        }
    }

    /// The URL of a node for other nodes.
    static var nodeURL: Self {
        text(named: "URL") { text in
            let url = try? FetchURL(text.replacing("{host}", with: "host"))
            return url?.target == "/" && !text.hasSuffix("/")
                ? nil : "must be a scheme, host and port, such as http://{host}:8080"
        }
    }

    static var scanner: Self {
        text(named: "URL") { text in
            (try? FetchURL(text)) == nil ? "must be an http or https URL, such as http://127.0.0.1:8900/scan" : nil
        }
    }

    static var origin: Self {
        text(named: "origin") { text in
            (try? TracedOrigins.origin(text)) == nil
                ? "must be a scheme, host and optional port, such as https://media.example.com" : nil
        }
    }

    static var allowance: Self {
        text(named: "host, address or CIDR") { text in
            do throws(FetchAllowanceProblem) {
                _ = try FetchAllowance(text)
                return nil
            } catch {
                return error.remedy
            }
        }
    }
}
