#!/bin/sh
# Makes the tables anew and loads the initial data, if its files are there: the statements
# in the numbered SQL files, which read rows from the files beside them.
set -eu
cd "$(dirname "$0")"

client=mariadb
command -v "$client" >/dev/null 2>&1 || client=mysql

export MYSQL_PWD="${ISUCON5_DB_PASSWORD-}"
cat [0-9]_*.sql | "$client" --no-defaults --protocol=tcp --default-character-set=utf8mb4 --local-infile=1 \
	--silent --skip-column-names --unbuffered \
	--host="${ISUCON5_DB_HOST:-127.0.0.1}" --port="${ISUCON5_DB_PORT:-3306}" \
	--user="${ISUCON5_DB_USER:-root}" "${ISUCON5_DB_NAME:-isucon5q}"
