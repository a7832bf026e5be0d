package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

// databases checks the accounts and their rights.
func (d *round) databases(ctx context.Context) {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if !s.Engine.MySQLFamily() {
			continue
		}
		db := d.s.Site().Services[s.Name].DB()
		var account, version, schema string
		if err := db.QueryRowContext(ctx, "SELECT CURRENT_USER(), VERSION(), COALESCE(DATABASE(), '')").Scan(&account, &version, &schema); err != nil {
			d.bad(Failed, s.Name, "account", "correct database.user and database.password", "%v", err)
			continue
		}
		d.ok(s.Name, "account", "%s on %s", account, version)
		if s.Database.Schema == "" {
			d.bad(Failed, s.Name, "schema", "fill in database.schema", "the schema of the site is not given")
		} else if n := d.tables(ctx, s.Name, s.Database.Schema); n == 0 {
			d.bad(Failed, s.Name, "schema", "correct database.schema", "the schema %s has no table that this account sees", s.Database.Schema)
		} else if n > 0 {
			d.ok(s.Name, "schema", "%s, %d tables", s.Database.Schema, n)
		}
		if err := discover.MaySetGlobal(ctx, db); err != nil {
			d.bad(Failed, s.Name, "right to set global variables", grant(account), "%v: the slow log cannot be turned on", err)
		} else {
			d.ok(s.Name, "right to set global variables", "the slow log can be turned on")
		}
		if s.Logs.Slow == "" {
			d.bad(Failed, s.Name, "slow log", "fill in logs.slow: a file in a folder that the server may write, such as its data folder", "no file is given")
		} else {
			d.path(s, "folder of logs.slow", filepath.Dir(s.Logs.Slow), "correct logs.slow: a file in a folder that the server may write", false)
		}
		if s.DropIn == "" {
			d.bad(Warning, s.Name, "drop_in", "fill in drop_in: a file in a folder of !includedir, or the last file that the server reads", "settings of the server cannot be changed without it")
		}
	}
}

// files checks that the SQLite files of a service can be read.
func (d *round) files(ctx context.Context, s *target.Service) {
	files, err := sqlitefile.Find(ctx, d.on(s), s.Database.Files...)
	groups, unread := sqlitefile.Groups(ctx, files)
	if err = errors.Join(append(unread, err)...); err != nil || len(groups) == 0 {
		d.bad(Failed, s.Name, "files", "correct database.files: folders with SQLite files that this user may read", "%d files with tables; %v", len(files), err)
		return
	}
	d.ok(s.Name, "files", "%d SQLite files, of %d sets of tables", len(files), len(groups))
	if s.Logs.Slow == "" {
		d.bad(Warning, s.Name, "trace", "have the app write its statements as JSON lines, and fill in logs.slow", "no trace of the app's statements is given: SQLite logs nothing itself")
		return
	}
	d.path(s, "trace", s.Logs.Slow, "correct logs.slow, or have the app write its statements there: without them no statement is seen", true)
}

// grant is the statement that gives an account the rights that iikanji needs.
func grant(account string) string {
	user, host, _ := strings.Cut(account, "@")
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return fmt.Sprintf("as an administrator of the database: GRANT ALL ON *.* TO %s@%s", quote(user), quote(host))
}

// tables counts the tables of a schema; -1 after a failed check.
func (d *round) tables(ctx context.Context, service, schema string) int {
	n := 0
	row := d.s.Site().Services[service].DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?", schema)
	if err := row.Scan(&n); err != nil {
		d.bad(Failed, service, "schema", "correct database.schema", "%v", err)
		return -1
	}
	return n
}
