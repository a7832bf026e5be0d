package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
)

// pgHints are what to do about errors of PostgreSQL, by their SQLSTATE.
var pgHints = map[pqerror.Code]string{
	"42P01": "CREATE EXTENSION pg_stat_statements in this database",
	"55000": "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and restart the server",
	"42501": "GRANT pg_read_all_stats to the role",
}

// livePostgres reads pg_stat_statements of a running server. Its errors do not contain the
// password of the address.
func livePostgres(ctx context.Context, dsn string, opt slowlog.Options) (*iikanji.Profile, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, usageError("--dsn: want postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	connector, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, usageError("--dsn: want postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=disable")
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	name := u.Host
	if name == "" {
		name = u.Query().Get("host")
	}
	p, err := slowlog.ReadPGStatements(ctx, db, name, opt)
	var refused *pq.Error
	switch {
	case errors.As(err, &refused) && pgHints[refused.Code] != "":
		return nil, hinted(err, pgHints[refused.Code])
	case errors.Is(err, pq.ErrSSLNotSupported):
		return nil, hinted(err, "add ?sslmode=disable to the address")
	}
	return p, err
}
