#!/bin/sh -eu
mariadb --no-defaults --socket="$DB_SOCKET" -u"$DB_USER" -p"$DB_PASS" "$DB_NAME" <schema.sql
mariadb --no-defaults --socket="$DB_SOCKET" -u"$DB_USER" -p"$DB_PASS" "$DB_NAME" <data.sql
echo loaded >>"$TMPDIR/../log/loads.log"
