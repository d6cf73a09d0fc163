extension Schema {
    /// What it takes to call whoever can be called, whatever waits for others.
    static let webhookReceivers = """
        -- Scheme, host and port: what comes before the first of / ? # after the scheme.
        ALTER TABLE callbacks ADD COLUMN receiver TEXT GENERATED ALWAYS AS (
            lower(substr(url, 1, 7 + instr(
                replace(replace(substr(url, 9), '?', '/'), '#', '/') || '/', '/')))
        ) VIRTUAL;
        -- Whether somebody has it in hand; who died with it left it so.
        ALTER TABLE callbacks ADD COLUMN underway INTEGER NOT NULL DEFAULT 0 CHECK (underway IN (0, 1));
        CREATE INDEX callbacks_by_receiver ON callbacks(tenant, receiver, due_at) WHERE state = 'pending';
        """
}
