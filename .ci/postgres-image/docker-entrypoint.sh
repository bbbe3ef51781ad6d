#!/usr/bin/env bash
# Start what a container is started with; PostgreSQL as the user postgres, and with a new data folder where there is
# none: made with POSTGRES_PASSWORD, POSTGRES_USER, POSTGRES_DB and POSTGRES_INITDB_ARGS, and prepared by the scripts
# in /docker-entrypoint-initdb.d, against a server that listens on its socket only.
set -euo pipefail

say() { printf 'entry: %s\n' "$*"; }

[ "${1:-postgres}" = postgres ] || exec "$@"
if [ "$(id -u)" -eq 0 ]; then
    mkdir -p "$PGDATA"
    chmod 700 "$PGDATA"
    chown -R postgres "$PGDATA" /var/run/postgresql
    exec gosu postgres "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    export POSTGRES_USER=${POSTGRES_USER:-postgres}
    export POSTGRES_DB=${POSTGRES_DB:-$POSTGRES_USER}
    export PGPASSWORD=${POSTGRES_PASSWORD:?a new data folder needs a password of the superuser}
    # as in the official image, this is a command line, not one word
    # shellcheck disable=SC2086
    initdb --username="$POSTGRES_USER" --pwfile=<(echo "$PGPASSWORD") ${POSTGRES_INITDB_ARGS:-}
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    pg_ctl --wait --options="$(printf '%q ' "${@:2}" -c listen_addresses=)" start
    [ "$POSTGRES_DB" = postgres ] || createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    shopt -s nullglob
    for script in /docker-entrypoint-initdb.d/*; do
        say "running $script"
        "$script"
    done
    pg_ctl --wait --mode=fast stop
    unset PGPASSWORD
else
    say "there are data already"
fi
exec "$@"
