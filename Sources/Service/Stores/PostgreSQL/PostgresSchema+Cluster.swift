extension PostgresSchema {
    /// Nodes, what they do for each other, and what a copy of another store leaves.
    static let cluster = """
        CREATE TABLE nodes (
            id uuid PRIMARY KEY, name text NOT NULL, version text NOT NULL, slot int NOT NULL, started_at bigint NOT NULL,
            heartbeat_at bigint NOT NULL, url text, role text NOT NULL, draining boolean NOT NULL, clock_ahead bigint NOT NULL);

        -- One run of a name is open at a time.
        CREATE TABLE runs (
            id text PRIMARY KEY, name text NOT NULL, tenant text NOT NULL, source text NOT NULL, start_after text,
            listed bigint NOT NULL DEFAULT 0, whole boolean NOT NULL DEFAULT false, counts text NOT NULL DEFAULT '',
            created_at bigint NOT NULL, ended_at bigint);
        CREATE UNIQUE INDEX runs_open ON runs (tenant, name) WHERE ended_at IS NULL;
        CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;

        CREATE TABLE leaders (task text PRIMARY KEY, node uuid NOT NULL, until bigint NOT NULL);

        CREATE TABLE garbage (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            kind text NOT NULL CHECK (kind IN ('blob', 'source', 'claim')), job bigint, name text NOT NULL,
            due_at bigint NOT NULL, tries int NOT NULL DEFAULT 0, CHECK ((kind = 'claim') = (job IS NOT NULL)));
        CREATE INDEX garbage_due ON garbage (due_at);

        -- This store is served once the copy of the other one has ended.
        CREATE TABLE copies (
            only_row int PRIMARY KEY CHECK (only_row = 1), source text NOT NULL, fingerprint text NOT NULL,
            attempt uuid NOT NULL, place text NOT NULL, began_at bigint NOT NULL, ended_at bigint);

        -- The names of copied sources here, which are deleted at the end of the copy, and the losses.
        CREATE TABLE copied_objects (
            kind text CHECK (kind IN ('blob', 'source')), name text, copy text,
            loss text CHECK (loss IN ('missing', 'damaged')), PRIMARY KEY (kind, name));
        """
}
