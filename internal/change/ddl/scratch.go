package ddl

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// scratchSchema is the database in which changes are tried. It exists only
// during a plan; if a plan was killed, the next one drops it. madeByUs is a
// table in it that marks it as iikanji's: a database of the same name without
// that mark is not touched.
const (
	scratchSchema = "iikanji_trial"
	madeByUs      = "iikanji_made_this"
)

// Time limits of a plan: for waiting for another plan, and for dropping the
// scratch database.
const (
	scratchWait = time.Minute
	scratchDrop = 10 * time.Second
)

// A scratch is a connection with exclusive use of the scratch database. Empty
// tables are made and altered there. They are not temporary tables, because
// those do not show foreign keys, partitions, or whether an ALTER runs online.
type scratch struct {
	db   *sql.DB
	conn *sql.Conn
	table
	scratch string // the quoted name of the table in the scratch database
	mode    string // the sql_mode of the pool's connections
}

// openScratch creates the scratch database for a table of a schema, with the
// schema's character set. The schema stays the default database, for unqualified
// names.
func openScratch(ctx context.Context, db *sql.DB, conn *sql.Conn, schema, name string) (_ *scratch, err error) {
	s := &scratch{db: db, conn: conn, table: table{dialect: sqltext.MySQL, schema: schema, name: name}, scratch: sqltext.MySQL.Quote(scratchSchema) + "." + sqltext.MySQL.Quote(name)}
	if mine, err := s.lock(ctx, scratchWait); err != nil {
		return nil, err
	} else if !mine {
		return nil, fmt.Errorf("another plan has had the scratch database for %s", scratchWait)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if err := s.unlogged(ctx); err != nil {
		return nil, err
	}
	var charset, collation string
	err = conn.QueryRowContext(ctx, "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME, @@sql_mode, @@lower_case_table_names "+
		"FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", schema).Scan(&charset, &collation, &s.mode, &s.fold)
	if err != nil {
		return nil, fmt.Errorf("reading the character set of schema %s: %w", schema, err)
	}
	if err := s.drop(ctx); err != nil {
		return nil, err
	}
	for _, stmt := range []string{
		"CREATE DATABASE " + sqltext.MySQL.Quote(scratchSchema) + " CHARACTER SET " + charset + " COLLATE " + collation,
		"CREATE TABLE " + sqltext.MySQL.Quote(scratchSchema) + "." + sqltext.MySQL.Quote(madeByUs) + " (id int PRIMARY KEY)",
		"USE " + sqltext.MySQL.Quote(schema),
	} {
		if err := s.exec(ctx, stmt); err != nil {
			return nil, fmt.Errorf("making the scratch database %s, for which the account needs every privilege: %w", scratchSchema, err)
		}
	}
	return s, nil
}

// close drops the scratch database and ends the connection, with its lock and
// settings. A cancelled plan has lost its connection: then a new connection
// drops the database, unless the next plan already uses it.
func (s *scratch) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scratchDrop)
	defer cancel()
	err := s.drop(ctx)
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // keeps the connection out of the pool
	_ = s.conn.Close()
	if err == nil || errors.Is(err, errNotOurs) {
		return nil
	}
	fresh, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("dropping the scratch database: %w", err)
	}
	other := &scratch{conn: fresh}
	defer func() { _ = fresh.Raw(func(any) error { return driver.ErrBadConn }); _ = fresh.Close() }()
	// The server notices only after a moment that the connection with the lock
	// has ended.
	if mine, err := other.lock(ctx, scratchDrop/2); err != nil || !mine {
		return err
	}
	if err := other.unlogged(ctx); err != nil {
		return err
	}
	return other.drop(ctx)
}

var errNotOurs = errors.New("iikanji has not made the database " + scratchSchema)

// drop drops the scratch database if it exists and is iikanji's. An empty one
// without the mark comes from a plan that was killed between creating and
// marking it.
func (s *scratch) drop(ctx context.Context) error {
	var tables, marks int
	err := s.conn.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(TABLE_NAME = ?), 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?",
		madeByUs, scratchSchema).Scan(&tables, &marks)
	if err != nil {
		return fmt.Errorf("looking for a scratch database: %w", err)
	}
	if tables > 0 && marks == 0 {
		return fmt.Errorf("%w: it has no table %s, and changes are tried in a database of that name", errNotOurs, madeByUs)
	}
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+sqltext.MySQL.Quote(scratchSchema)); err != nil {
		return fmt.Errorf("dropping the scratch database: %w", err)
	}
	return nil
}

// accessDenied is the server's ER_SPECIFIC_ACCESS_DENIED_ERROR.
const accessDenied = 1227

// unlogged keeps the statements of this connection out of the binary log:
// replicas do not need the scratch database. This takes an administrator's
// privilege. With other accounts, replicas create and drop the database as well.
func (s *scratch) unlogged(ctx context.Context) error {
	err := s.exec(ctx, "SET SESSION sql_log_bin = 0")
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && refused.Number == accessDenied {
		return nil
	} else if err != nil {
		return fmt.Errorf("keeping the scratch database out of the binary log: %w", err)
	}
	return nil
}

// lock waits until other plans have finished with the scratch database.
func (s *scratch) lock(ctx context.Context, wait time.Duration) (bool, error) {
	var got sql.NullInt64
	err := s.conn.QueryRowContext(ctx, "SELECT GET_LOCK('"+scratchSchema+"', ?)", int(wait.Seconds())).Scan(&got)
	if err != nil {
		return false, fmt.Errorf("asking for the scratch database: %w", err)
	}
	return got.Int64 == 1, nil
}

func (s *scratch) exec(ctx context.Context, stmt string) error {
	_, err := s.conn.ExecContext(ctx, stmt)
	return err
}

// shown returns the present definition of the table in the scratch database.
func (s *scratch) shown(ctx context.Context) (string, error) {
	return change.TableDefinition(ctx, s.conn, s.scratch)
}

// lenient are session settings under which a table can be created from its
// definition, whatever its default values and foreign keys are; strict are those
// for altering it.
const (
	lenient = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0"
	strict  = "SET SESSION sql_mode = ?, foreign_key_checks = 1"
)

// copyOf makes an empty copy of the table with CREATE TABLE … LIKE. Only LIKE
// copies a property that the definition does not show: that the server made an
// index for a foreign key, and drops it when another index can serve the key.
// LIKE omits foreign keys; they are added afterwards.
func (s *scratch) copyOf(ctx context.Context, definition string) error {
	d, _ := parseDefinition(definition)
	run := []string{"DROP TABLE IF EXISTS " + s.scratch, lenient, "CREATE TABLE " + s.scratch + " LIKE " + sqltext.MySQL.Quote(s.schema) + "." + sqltext.MySQL.Quote(s.table.name)}
	if cs := d.constraints(); len(cs) > 0 {
		run = append(run, altering(s.scratch, cs))
	}
	for _, stmt := range run {
		if err := s.exec(ctx, stmt); err != nil {
			return fmt.Errorf("making an empty copy of %s: %w", s.table.name, err)
		}
	}
	if _, err := s.conn.ExecContext(ctx, strict, s.mode); err != nil {
		return fmt.Errorf("making an empty copy of %s: %w", s.table.name, err)
	}
	text, err := s.shown(ctx)
	if err == nil && text != definition {
		err = fmt.Errorf("a copy of %s is defined otherwise than the table itself:\n%s\nand\n%s", s.table.name, text, definition)
	}
	return err
}

// A tried is a change that was made and undone on an empty copy.
type tried struct {
	after    string   // the definition with the change
	do, undo []string // the clauses of ALTER TABLE
	online   bool     // both run while others write
}

// try makes and undoes a change on an empty copy. An index that the server would
// drop by itself, because the new one can serve its foreign key, is added again
// explicitly: the definition does not show that property, so an undo could not
// restore it exactly.
func (s *scratch) try(ctx context.Context, before string, a alter) (alter, tried, error) {
	t, err := s.there(ctx, before, a)
	if err != nil {
		return a, t, err
	}
	was, _ := parseDefinition(before)
	is, _ := parseDefinition(t.after)
	for _, k := range was.keys() {
		if _, ok := is.key(k.name); !ok && k.name != a.drop {
			a.keep = append(a.keep, k)
		}
	}
	if len(a.keep) > 0 {
		if t, err = s.there(ctx, before, a); err != nil {
			return a, t, err
		}
		is, _ = parseDefinition(t.after)
	}
	return a, t, s.back(ctx, before, fromTo(is, was), &t)
}

// there makes the change on a new copy.
func (s *scratch) there(ctx context.Context, before string, a alter) (tried, error) {
	t := tried{do: a.clauses(), online: true}
	if err := s.copyOf(ctx, before); err != nil {
		return t, err
	}
	if err := s.alter(ctx, &t, t.do); err != nil {
		return t, fmt.Errorf("trying %q on an empty copy: %w", strings.Join(t.do, ", "), err)
	}
	var err error
	t.after, err = s.shown(ctx)
	return t, err
}

// back undoes the change and compares the definition with the original one.
func (s *scratch) back(ctx context.Context, before string, undo []string, t *tried) error {
	t.undo = undo
	if err := s.alter(ctx, t, t.undo); err != nil {
		return fmt.Errorf("trying the undo %q on an empty copy: %w", strings.Join(t.undo, ", "), err)
	}
	if text, err := s.shown(ctx); err != nil {
		return err
	} else if text != before {
		return fmt.Errorf("the undo would not lead back to the definition of %s, but to\n%s", s.table.name, text)
	}
	if t.online {
		t.do, t.undo = append(t.do, change.Online...), append(t.undo, change.Online...)
	}
	return nil
}

// alter tries the ALTER online first, then without if the server refuses that.
func (s *scratch) alter(ctx context.Context, t *tried, clauses []string) error {
	err := s.exec(ctx, altering(s.scratch, append(clauses[:len(clauses):len(clauses)], change.Online...)))
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && change.NotOnline(refused) {
		t.online = false
		err = s.exec(ctx, altering(s.scratch, clauses))
	}
	return err
}
