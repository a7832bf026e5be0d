#!/bin/sh
# Fills the admin database once, before the app starts. initialize does not do
# this again: it removes what came later.
set -eu
cd "$(dirname "$0")"

export MYSQL_PWD="${ISUCON_DB_PASSWORD-isucon}"
cat admin/10_schema.sql admin/90_data.sql | mariadb --no-defaults --protocol=tcp --default-character-set=utf8mb4 \
	--host="${ISUCON_DB_HOST:-127.0.0.1}" --port="${ISUCON_DB_PORT:-3306}" \
	--user="${ISUCON_DB_USER:-isucon}" "${ISUCON_DB_NAME:-isuports}"
./init.sh
