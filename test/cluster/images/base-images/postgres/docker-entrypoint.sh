#!/usr/bin/env bash
# As the official image's: root becomes the user postgres; an empty data folder is set up by POSTGRES_USER, _PASSWORD,
# _DB, _INITDB_ARGS and _HOST_AUTH_METHOD (each may be read from the file that NAME_FILE names), then by what
# /docker-entrypoint-initdb.d holds, on a server that only this script reaches.
set -Eeuo pipefail
shopt -s nullglob

if [ "${1:0:1}" = - ]; then set -- postgres "$@"; fi
if [ "$1" != postgres ]; then exec "$@"; fi

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  find "$PGDATA" \! -user postgres -exec chown postgres '{}' +
  exec setpriv --reuid postgres --regid postgres --clear-groups "$BASH_SOURCE" "$@"
fi
mkdir -p "$PGDATA"
chmod 700 "$PGDATA" 2>/dev/null || true # an arbitrary user may not own the volume
export HOME=/var/lib/postgresql

setting() { # NAME DEFAULT: from the environment, or from the file that NAME_FILE names
  local file=$1_FILE
  if [ -n "${!1:-}" ] && [ -n "${!file:-}" ]; then
    echo "error: both $1 and $file are set (but are exclusive)" >&2
    exit 1
  fi
  if [ -n "${!file:-}" ]; then printf -v "$1" %s "$(<"${!file}")"; else printf -v "$1" %s "${!1:-$2}"; fi
  unset "$file"
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  setting POSTGRES_PASSWORD ''
  setting POSTGRES_USER postgres
  setting POSTGRES_DB "$POSTGRES_USER"
  setting POSTGRES_INITDB_ARGS ''
  method=${POSTGRES_HOST_AUTH_METHOD:-}
  if [ -z "$POSTGRES_PASSWORD" ] && [ "$method" != trust ]; then
    echo 'Error: Database is uninitialized and superuser password is not specified.' >&2
    echo '       You must specify POSTGRES_PASSWORD to a non-empty value for the superuser.' >&2
    exit 1
  fi
  # shellcheck disable=SC2086 # several arguments
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") $POSTGRES_INITDB_ARGS
  printf '\nhost all all all %s\n' "${method:-scram-sha-256}" >>"$PGDATA/pg_hba.conf"

  PGPASSWORD=$POSTGRES_PASSWORD pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -p 5432" -w start
  query() { PGPASSWORD=$POSTGRES_PASSWORD PGHOST='' PGHOSTADDR='' psql -v ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --no-password "$@"; }
  if [ "$POSTGRES_DB" != postgres ]; then
    echo 'CREATE DATABASE :"db";' | query --dbname postgres --set db="$POSTGRES_DB"
  fi
  export POSTGRES_USER POSTGRES_DB POSTGRES_PASSWORD
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh)
        echo "$0: running $file"
        # shellcheck disable=SC1090 # what is there decides
        if [ -x "$file" ]; then "$file"; else . "$file"; fi
        ;;
      *.sql)
        echo "$0: running $file"
        query --dbname "$POSTGRES_DB" -f "$file"
        ;;
      *.sql.gz)
        echo "$0: running $file"
        gunzip -c "$file" | query --dbname "$POSTGRES_DB"
        ;;
      *) echo "$0: ignoring $file" ;;
    esac
  done
  PGUSER=${PGUSER:-postgres} pg_ctl -D "$PGDATA" -m fast -w stop
  echo 'PostgreSQL init process complete; ready for start up.'
else
  echo 'PostgreSQL Database directory appears to contain a database; Skipping initialization'
fi
exec "$@"
