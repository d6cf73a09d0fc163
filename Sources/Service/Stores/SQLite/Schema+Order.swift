extension Schema {
    /// The order in which jobs are given out, and pending jobs that come to their deadline.
    static let order = """
        -- A line is what is given out by itself: a lane's jobs of one priority, those with a source to fetch apart.
        CREATE TABLE lines (
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'expensive')),
            priority INTEGER NOT NULL CHECK (priority IN (0, 1)),
            fetches INTEGER NOT NULL CHECK (fetches IN (0, 1)),
            -- The greatest rank that was ever claimed there.
            claimed_rank INTEGER NOT NULL DEFAULT 0 CHECK (claimed_rank >= 0),
            PRIMARY KEY (lane, priority, fetches)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO lines (lane, priority, fetches)
        SELECT lane.value, priority.value, fetches.value
        FROM json_each('["quick", "expensive"]') AS lane, json_each('[0, 1]') AS priority, json_each('[0, 1]') AS fetches;
        CREATE TRIGGER lines_only_advance BEFORE UPDATE OF claimed_rank ON lines
        WHEN NEW.claimed_rank < OLD.claimed_rank
        BEGIN SELECT RAISE(ABORT, 'a line never goes back'); END;
        CREATE TRIGGER lines_stay BEFORE DELETE ON lines
        BEGIN SELECT RAISE(ABORT, 'a line must keep its place'); END;

        -- Within a line the least (rank, key) comes first. A run is a line of its own, in the order of keys.
        ALTER TABLE jobs ADD COLUMN rank INTEGER NOT NULL DEFAULT 0 CHECK (rank >= 0);
        ALTER TABLE jobs ADD COLUMN fetches INTEGER NOT NULL DEFAULT 0 CHECK (fetches IN (0, 1));
        UPDATE jobs SET fetches = 1
        WHERE submission IS NOT NULL AND EXISTS (
            SELECT 1 FROM json_each(submission, '$.attachments')
            WHERE json_extract(value, '$.location.url') IS NOT NULL);
        DROP INDEX jobs_waiting;
        CREATE INDEX jobs_waiting ON jobs(run, priority, key, due_at) WHERE state = 'pending' AND run <> '';
        CREATE INDEX jobs_in_line ON jobs(lane, priority, fetches, rank, key, due_at)
            WHERE state = 'pending' AND run = '';
        CREATE INDEX jobs_of_tenant_in_line ON jobs(lane, priority, fetches, tenant, rank, key, state, due_at)
            WHERE state IN ('pending', 'running') AND run = '';
        -- One that was interrupted gets its time anew when it is claimed.
        CREATE INDEX jobs_by_deadline ON jobs(deadline_at)
            WHERE state = 'pending' AND run = '' AND interrupted = 0 AND deadline_at IS NOT NULL;
        """
}
