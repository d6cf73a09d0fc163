import API
import SatchelCore
import HTTPServer
import Ingest
import Jobs
import Logging
import Stores

extension Setting {
    /// Every setting, in the order in which they are documented.
    static let all: [Setting] = [
        // Where.
        Setting(
            "store", \.store, .store,
            "The store's directory, made on first use; 'memory:' for one that goes with the process; or, for many nodes, a database: postgres://user@host/name, several hosts included, as libpq has it. Its password belongs into PGPASSWORD or the password file."
        ),
        Setting(
            "blobs", \.blobs,
            .text(named: "s3://bucket/prefix") { $0.hasPrefix("s3://") ? nil : "name a bucket: s3://bucket/prefix" },
            "The bucket that keeps the bytes of a store in PostgreSQL. Credentials come as AWS's own tools take them: environment, web identity, shared file, container or instance."
        ),
        Setting(
            "spool", \.spool, .path,
            "Where a node of a store in PostgreSQL receives sources and stages outputs; it may be lost."),
        Setting(
            "access.keys", \.accessKeys, .path,
            "The file of the keys that access tokens are derived from; made on first use. Keep it outside the store and its backups; servers of one store share it."
        ),
        Setting(
            "role", \.settings.role, .choice,
            "What this node does beside others of the same store: take requests, work, or both. A worker answers /livez, /readyz and /metrics alone."
        ),
        Setting(
            "listen", \.listen, .listen,
            "Where the service listens. Off loopback it needs an API key and public_url. Port 0 takes any that is free."
        ),
        Setting(
            "public_url", \.publicURL, .publicURL, default: "http://127.0.0.1:PORT on loopback",
            "Where clients reach the service: content URLs begin with it. Never taken from a request."),
        Setting(
            "tls.certificate", \.tlsCertificate, .path,
            "A PEM file with the certificate and its chain. With tls.key: the service speaks TLS itself."),
        Setting("tls.key", \.tlsKey, .path, "A PEM file with the certificate's private key."),
        Setting(
            "content.origins", list: \.settings.contentOrigins, .pageOrigin,
            "Origins whose pages may read content by its URL, beyond showing it; * for all."),
        Setting(
            "content.accel_prefix", \.settings.accelPrefix,
            .text(named: "path") {
                $0.hasPrefix("/") && $0.hasSuffix("/")
                    ? nil : "write a location that begins and ends with a slash: /satchel-blobs/"
            },
            "Content is answered with X-Accel-Redirect beneath this nginx location, instead of with its bytes."),
        Setting(
            "content.redirect", \.settings.contentRedirect, .choice,
            "Whether content of links with the delivery 'shared' is answered with a redirect to the bucket, good for a minute, instead of with its bytes."
        ),
        Setting(
            "content.cache_bytes", \.settings.cacheBytes, .bytes(atLeast: 0),
            "Of renditions up to 64 KiB that a node keeps in memory where a bucket has them; whether one may be read is asked all the same. 0 keeps none."
        ),
        Setting(
            "grace", \.grace, .seconds(0...3600),
            "After SIGTERM: for work that is underway to finish. What isn't done then is handed back."),

        // How the database and the bucket are talked to.
        Setting(
            "postgres.connections", \.database.connections, .count(1...100),
            "Of this node to the database, for writes; half as many more are for reads."),
        Setting(
            "postgres.pooled", \.database.isPooled, .flag,
            "Whether a pooler in transaction mode, such as PgBouncer, is between: then nothing of a session is used."),
        Setting(
            "postgres.notify", \.database.wakeups, .choice,
            "Whether nodes wake each other by NOTIFY: 'auto' finds out whether that is heard, which behind a pooler in transaction mode it isn't. Without, they look for work every 100 ms."
        ),
        Setting(
            "nodes.dead_after", \.database.deadAfter, .seconds(3...300),
            "Without a heartbeat for so long a node of a store in PostgreSQL is dead: what it had is begun anew elsewhere."
        ),
        Setting(
            "claims.duration", \.claimDuration, .seconds(5...600),
            "How long a job is a worker's without a word from it; said again each third of that. Then it is begun anew."
        ),
        Setting(
            "cluster.advertise", \.database.advertises, .nodeURL,
            "Where other nodes of a store in PostgreSQL reach this one: http://10.0.0.7:8080, or with {host} for this machine's name. Then whoever follows a job hears all of it on any node, and not only when it begins and ends."
        ),
        Setting(
            "garbage.delay", \.database.garbageDelay, .seconds(0...86_400),
            "How long bytes in a bucket outlive their last record, so that a failover of the database that lost a deletion finds them."
        ),
        Setting(
            "s3.endpoint", \.bucket.endpoint, .publicURL, default: "AWS's own",
            "The bucket's server, where it isn't AWS."),
        Setting(
            "s3.region", \.bucket.region, .text(named: "region") { $0.isEmpty ? "name the bucket's region" : nil },
            default: "AWS_REGION, else us-east-1", "The bucket's region."),
        Setting(
            "s3.path_style", \.bucket.usesPathStyle, .flag,
            "Whether the bucket is named in the path, as servers of one's own often want it, and not in the host."),
        Setting(
            "s3.ca", \.bucket.certificateAuthorities, .path, default: "the system's",
            "A PEM file of the certificates that alone are trusted for the bucket's server."),
        Setting(
            "s3.encryption", \.bucket.encryption, .choice,
            "How the server is told to encrypt objects: as the bucket says, with its own keys, or with one of its key management service."
        ),
        Setting(
            "s3.kms_key", \.bucket.key, .text(named: "key") { $0.isEmpty ? "name the key" : nil },
            default: "the account's", "With s3.encryption kms: the key."),
        Setting(
            "s3.storage_class", \.bucket.storageClass,
            .text(named: "class") { $0.isEmpty ? "name a storage class: STANDARD_IA" : nil },
            default: "the bucket's", "Of new objects."),
        Setting("s3.connections", \.bucket.connections, .count(1...1000), "To the bucket's server at once."),

        // Who.
        Setting(
            "api_keys.required", \.settings.keysRequired, .flag,
            "Whether a request needs an API key. Only a service on loopback may do without: then every program of the machine is its administrator, but no web page."
        ),
        Setting(
            "console", \.settings.hasConsole, .flag,
            "Whether there is an operator's console at /console. Off loopback it needs a public_url with https."),
        Setting("metrics.public", \.settings.metricsArePublic, .flag, "Whether /metrics answers without an API key."),
        Setting(
            "fetch.allow", list: \.fetchAllow, .allowance,
            "Exceptions to the fetch guard, which refuses private addresses: a host, an address or a CIDR, with an optional port."
        ),
        Setting(
            "fetch.trace", list: \.fetchTrace, .origin,
            "Origins whose fetches carry the traceparent of their submission, beside public_url's own; no other ever sees it."
        ),
        Setting(
            "callback.allow", list: \.webhookAllow, .allowance,
            "Exceptions for callbacks, as fetch.allow's for sources."),

        // Who scans.
        Setting(
            "scan.url", \.scan.url, .scanner,
            "A scanner that is sent each source by POST and answers whether it may be delivered: {\"verdict\": \"yes\" or \"no\", \"reason\"}."
        ),
        Setting(
            "scan.socket", \.scan.socket,
            .text(named: "path or host:port") {
                ClamdScanner.Address($0) == nil
                    ? "write where clamd listens: /run/clamav/clamd.ctl, or 127.0.0.1:3310" : nil
            }, "In its place ClamAV's daemon, which reads each source over this socket."),
        Setting(
            "scan.timeout", \.scan.timeout, .seconds(0.1...600),
            "For the scan of one source, which has to come within the job's deadline all the same."),
        Setting(
            "scan.failure", \.scan.failure, .choice,
            "Without a verdict: 'closed' delivers nothing and tries again, 'open' delivers with a step that says so."),

        // What with.
        Setting(
            "memory", \.memory, .bytes(atLeast: 256 << 20), default: "half of the machine's",
            "Memory for all codec processes together."),
        Setting(
            "codecs", \.codecs, .count(1...256), default: "one more than cores", "Codec processes at work at once."),
        Setting(
            "sandbox", \.sandbox, .choice,
            "What the confinement of codecs must hold: 'full' demands the kernel's extras too (see 'satchel doctor'); 'none' starts without. For trusted sources only."
        ),
        Setting(
            "jpeg.fast_huffman", \.fastHuffman, .flag,
            "Whether JPEGs may be decoded by Satchel's own decoder of Huffman codes: the same pictures, in half to two thirds of the time (see 'satchel doctor')."
        ),
        Setting(
            "profiles", \.profiles, .path,
            "A YAML file of profiles that add to the built-in ones (see 'satchel profile')."),
        Setting(
            "categories", map: \.settings.categories,
            "APNs category to profile, for payloads that don't name one: message: message."),
        Setting(
            "payload.pointers", list: \.settings.payloadPointers,
            .text(named: "JSON pointer") { text in
                // RFC 6901: a tilde is the start of ~0 or ~1.
                let isPointer =
                    text.hasPrefix("/")
                    && text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
                        .allSatisfy { $0.first == "0" || $0.first == "1" }
                return isPointer ? nil : "write a JSON pointer: /custom/image"
            },
            "Where push payloads have media URLs, beside the known conventions."),
        Setting(
            "lease.ttl", \.settings.leaseTTL, .seconds(1...2_592_000),
            "How long the URLs of a finished job's answer work, where the submission doesn't say."),
        Setting(
            "maintenance.interval", \.sweepInterval, .seconds(1...86_400),
            "Between two sweeps of the store, which delete what has expired and what nothing refers to."),
        Setting(
            "audit.keep", \.auditKept, .seconds(86_400...315_360_000),
            "How long is kept who made, took back, rotated and deleted what, and who signed in."),

        // Logs.
        Setting("log.level", \.logLevel, .choice, "The least severe that is logged."),
        Setting("log.format", \.logFormat, .choice, "A JSON object, or a text, for each line on standard output."),
        Setting(
            "log.requests", \.settings.logsRequests, .flag, "Whether each request is logged, by its route's template."),

        // What a source may ask.
        Setting("limits.image_bytes", \.settings.limits.imageBytes, .bytes(), "Of an image or an animation."),
        Setting(
            "limits.clip_bytes", \.settings.limits.clipBytes, .bytes(),
            "Of a video or a sound; also what a fetch or an upload stops at."),
        Setting(
            "limits.still_pixels", \.settings.limits.stillPixels, .count(1...10_000_000_000),
            "Of a still. One that needs more memory than its codec process may use is refused below this already."),
        Setting(
            "limits.frame_pixels", \.settings.limits.framePixels, .count(1...1_000_000_000),
            "Of one frame of an animation or a video."),
        Setting(
            "limits.side", \.settings.limits.side, .count(1...1_000_000), "Pixels along a side of any picture."),
        Setting(
            "limits.animation_pixels", \.settings.limits.animationPixels, .count(1...100_000_000_000),
            "Of all frames of an animation."),
        Setting(
            "limits.animation_frames", \.settings.limits.animationFrames, .count(1...100_000), "Of an animation."),
        Setting(
            "limits.streams", \.settings.limits.streams, .count(1...64), "Of a clip: tracks that decoders look at."),
        Setting("limits.icc_bytes", \.settings.limits.iccBytes, .bytes(), "Of an embedded colour profile."),

        // What a tenant may use.
        Setting(
            "quotas.stored_bytes", \.settings.quotas.storedBytes, .bytes(),
            "Of all renditions that a tenant keeps."),
        Setting(
            "quotas.pending_jobs", \.settings.quotas.pendingJobs, .count(1...10_000_000),
            "A tenant's jobs that are not finished."),
        Setting(
            "quotas.live_leases", \.settings.quotas.liveLeases, .count(1...100_000_000), "A tenant's leases that live."),
        Setting(
            "quotas.pending_notifications", \.settings.quotas.pendingNotifications, .count(1...10_000_000),
            "A tenant's notifications that are to fire."),
        Setting(
            "quotas.open_uploads", \.settings.quotas.openUploads, .count(1...10_000_000),
            "A tenant's uploads that take bytes."),
        Setting(
            "quotas.upload_bytes", \.settings.quotas.uploadBytes, .bytes(), default: "half of intake.spool_bytes",
            "Of a tenant's uploads that no job has yet, and 8 MiB for each that takes bytes."),
        Setting(
            "quotas.submissions_per_minute", \.settings.quotas.submissionsPerMinute, .count(1...10_000_000),
            "Of a tenant."),
        Setting(
            "quotas.tenants", quotas: \.settings.quotaExceptions,
            "What replaces single quotas for one tenant, null for no bound: {acme: {stored_bytes: 50G, live_leases: null}}; in the environment acme.stored_bytes=50G."
        ),

        // How much may wait.
        Setting(
            "intake.queue", \.settings.intake.queue, .count(1...100_000_000),
            "Jobs of all tenants that wait: 429 over it."),
        Setting(
            "intake.spool_bytes", \.settings.intake.spoolBytes, .bytes(),
            "Of uploads that are being received or wait: 429 over it."),
        Setting(
            "intake.free_bytes", \.settings.intake.freeBytes, .bytes(),
            "With less free on the store's disk nothing is taken: 507."),
        Setting("intake.json_bytes", \.settings.intake.jsonBytes, .bytes(atLeast: 1024), "Of a JSON body."),
        Setting(
            "intake.uploads", \.settings.intake.uploads, .count(1...100_000), "Requests whose body is being received."),

        // Uploads.
        Setting(
            "uploads.interim", \.settings.uploads.interim, .choice,
            "Whether interim responses (104) tell how far an upload has come: auto sends none where a proxy is between, for some take the first for the last."
        ),
        Setting(
            "uploads.origins", list: \.settings.uploads.origins, .pageOrigin,
            "Origins whose pages may upload by an upload's URL; * for all."),

        // Connections.
        Setting(
            "connections.connections", \.settings.connections.connections, .count(1...1_000_000),
            "At once; more are closed as they come."),
        Setting(
            "connections.header", \.settings.connections.header, .seconds(0.1...3600),
            "For the request line and all headers."),
        Setting(
            "connections.header_bytes", \.settings.connections.headerBytes, .bytes(atLeast: 1024),
            "Of the request line and all headers."),
        Setting(
            "connections.header_fields", \.settings.connections.headerFields, .count(8...10_000), "Of one request."),
        Setting("connections.idle", \.settings.connections.idle, .seconds(0.1...86_400), "Between two requests."),
        Setting(
            "connections.minimum_rate", \.settings.connections.minimumRate, .bytes(),
            "Per second, that a body must keep up."),
        Setting(
            "connections.rate_window", \.settings.connections.rateWindow, .seconds(0.1...3600),
            "Over which that rate is averaged."),
        Setting("connections.body", \.settings.connections.body, .seconds(0.1...86_400), "For a whole request body."),
        Setting(
            "connections.response", \.settings.connections.response, .seconds(0.1...86_400), "For a whole response."),
    ]

    static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
}

extension ServiceConfiguration {
    /// Nil where none was given.
    var publicURL: String? {
        get { settings.publicURL.isEmpty ? nil : settings.publicURL }
        set { settings.publicURL = newValue ?? "" }
    }

    /// Where none was given, takes the address that is listened on.
    mutating func completePublicURL() {
        guard publicURL == nil, let address = firstAddress else { return }
        publicURL = "\(tlsCertificate == nil ? "http" : "https")://\(address)"
    }
}

extension SettingKind<String> {
    /// A password in it isn't shown.
    static var store: Self {
        SettingKind(name: "path or URL") { text throws(SettingError) in
            guard !text.isEmpty else { throw SettingError("name a directory or a database") }
            if case .database = StoreLocation(text) {
                do throws(StoreError) { _ = try StoreDatabase(text) } catch {
                    throw SettingError("write postgres://user@host/database, as libpq reads it")
                }
            }
            return text
        } show: {
            .text(StoreLocation($0).description)
        }
    }

    /// Of a node, for others.
    static var nodeURL: Self {
        text(named: "URL") { text in
            let url = try? FetchURL(text.replacing("{host}", with: "host"))
            return url?.target == "/" && !text.hasSuffix("/") ? nil : "write scheme, host and port: http://{host}:8080"
        }
    }

    static var scanner: Self {
        text(named: "URL") { text in
            do throws(AttachmentError) {
                _ = try FetchURL(text)
                return nil
            } catch {
                return "write the scanner's http or https URL: http://127.0.0.1:8900/scan"
            }
        }
    }

    static var origin: Self {
        text(named: "origin") { text in
            do throws(AttachmentError) {
                _ = try TracedOrigins.origin(text)
                return nil
            } catch {
                return "write a scheme, a host and a port where it isn't the scheme's own: https://media.example.com"
            }
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
