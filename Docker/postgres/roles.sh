#!/bin/sh
# Run once by PostgreSQL's image, when the database of compose.scaled.yaml is made: beside the owner of the schema, who migrates,
# a user for the service that only reads and writes rows. What a migration makes later is that user's to use, too.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$SATCHEL_DATABASE_PASSWORD" \
    --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE satchel LOGIN PASSWORD :'password';
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO satchel;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO satchel;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO satchel;
SQL
