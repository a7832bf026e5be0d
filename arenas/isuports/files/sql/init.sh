#!/bin/sh
# Restores the initial data, as initialize of the app does: the rows of later
# tenants and visits go, and the pristine SQLite files replace the live ones.
set -eu
cd "$(dirname "$0")"

export MYSQL_PWD="${ISUCON_DB_PASSWORD-isucon}"
mariadb --no-defaults --protocol=tcp --default-character-set=utf8mb4 \
	--host="${ISUCON_DB_HOST:-127.0.0.1}" --port="${ISUCON_DB_PORT:-3306}" \
	--user="${ISUCON_DB_USER:-isucon}" "${ISUCON_DB_NAME:-isuports}" <init.sql

live="${ISUCON_TENANT_DB_DIR:-../tenant_db}"
rm -f "$live"/*.db "$live"/*.db-journal "$live"/*.db-wal "$live"/*.db-shm
cp ../initial_data/*.db "$live"/
