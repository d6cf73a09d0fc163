#!/bin/sh
# PostgreSQL's image runs this once, when it creates the database of compose.scaled.yaml. The owner of the schema migrates. This
# adds a user for the service that only reads and writes rows, also in tables that a later migration creates.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$SATCHEL_DATABASE_PASSWORD" \
    --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE satchel LOGIN PASSWORD :'password';
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO satchel;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO satchel;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO satchel;
SQL
