#!/bin/sh
# Loads the initial data once, before the app starts for the first time, so that the site
# can be used without an initialize.
set -eu
cd "$(dirname "$0")"

export MYSQL_PWD="${MYSQL_PASS-isucon}"
cat 1_schema.sql 2_init.sql 3_sample.sql | mariadb --no-defaults --protocol=tcp --default-character-set=utf8mb4 \
	--host="${MYSQL_HOSTNAME:-127.0.0.1}" --port="${MYSQL_PORT:-3306}" \
	--user="${MYSQL_USER:-isucon}" "${MYSQL_DATABASE:-isucholar}"
rm -rf ../assignments
cp -r ../data ../assignments
