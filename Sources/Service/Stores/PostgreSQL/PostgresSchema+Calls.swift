extension PostgresSchema {
    /// Calls of any type, which take over the callbacks of jobs. What programs of the first version know as `callbacks` is the
    /// part of them that is about jobs: a view, through which they write as before. It goes with a later version, and the
    /// default of the type with it.
    static let calls = Migration(
        version: 2, leastNode: 1,
        steps: [
            .together([
                "ALTER TABLE callbacks RENAME TO calls",
                "ALTER INDEX callbacks_due RENAME TO calls_due",
                "ALTER INDEX callbacks_by_receiver RENAME TO calls_by_receiver",
                "ALTER INDEX callbacks_by_end RENAME TO calls_by_end",
                // A rule that isn't validated holds for what is written from now on.
                """
                ALTER TABLE calls ADD COLUMN type text NOT NULL DEFAULT 'job.finished', ADD COLUMN subject text,
                    ADD COLUMN body bytea, ADD COLUMN give_up_at bigint,
                    ADD COLUMN is_kept boolean NOT NULL DEFAULT true, ALTER COLUMN job DROP NOT NULL,
                    ALTER COLUMN generation DROP NOT NULL, DROP CONSTRAINT callbacks_state_check,
                    ADD CONSTRAINT calls_have_states
                        CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')) NOT VALID,
                    ADD CONSTRAINT calls_are_of_jobs_or_have_bodies
                        CHECK ((job IS NULL) = (generation IS NULL) AND (job IS NULL) = (body IS NOT NULL)) NOT VALID
                """,
                """
                CREATE VIEW callbacks AS
                SELECT id, tenant, job, generation, url, receiver, traceparent, created_at, state, attempt, due_at, underway,
                    finished_at, reason
                FROM calls WHERE job IS NOT NULL
                """,
            ]),
            .together([
                "ALTER TABLE calls VALIDATE CONSTRAINT calls_have_states",
                "ALTER TABLE calls VALIDATE CONSTRAINT calls_are_of_jobs_or_have_bodies",
            ]),
            .index("calls_by_subject", on: "calls (tenant, subject) WHERE subject IS NOT NULL"),
            .index("calls_by_state", on: "calls (tenant, state, id)"),
            .index("calls_by_type", on: "calls (tenant, type, state, id)"),
        ])
}
