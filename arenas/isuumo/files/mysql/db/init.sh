#!/bin/sh
# Loads schema and initial data anew, as initialize of the app does. The schema
# drops the database and creates it again.
set -eu
cd "$(dirname "$0")"

client=mysql
command -v "$client" >/dev/null 2>&1 || client=mariadb

export MYSQL_PWD="${MYSQL_PASS-isucon}"
for file in 0_Schema.sql 1_DummyEstateData.sql 2_DummyChairData.sql; do
	"$client" --no-defaults --protocol=tcp \
		--default-character-set=utf8mb4 \
		--host="${MYSQL_HOST:-127.0.0.1}" --port="${MYSQL_PORT:-3306}" \
		--user="${MYSQL_USER:-isucon}" "${MYSQL_DBNAME:-isuumo}" <"$file"
done
