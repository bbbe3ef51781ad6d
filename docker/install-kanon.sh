#!/usr/bin/env bash
# Run by the postgres image, once, when it has made the data folder and its database.
# After an update of the image: docker compose exec postgres /docker-entrypoint-initdb.d/10-install-kanon.sh
set -euo pipefail

# while this runs, the image's server listens on its socket only
export PGHOST="${PGHOST:-/var/run/postgresql}"
export PGUSER="${POSTGRES_USER:-postgres}"
export PGDATABASE="${POSTGRES_DB:-$PGUSER}"
kanon install --server
