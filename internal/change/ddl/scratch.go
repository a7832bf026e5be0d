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
)

// scratchSchema is the database in which changes are tried. It is there for
// the time of a plan only; what a killed plan left is dropped by the next one.
// madeByUs is a table in it by which we know it: another's database of that
// name is not touched.
const (
	scratchSchema = "iikanji_trial"
	madeByUs      = "iikanji_made_this"
)

// Bounds of a plan: waiting for another plan, and dropping the scratch.
const (
	scratchWait = time.Minute
	scratchDrop = 10 * time.Second
)

// A scratch is a connection that has the scratch database for itself. Empty
// tables are made and altered there: unlike temporary ones, they show foreign
// keys, partitions and whether an ALTER is done online.
type scratch struct {
	db   *sql.DB
	conn *sql.Conn
	table
	scratch string // the table in the scratch database, quoted
	mode    string // the sql_mode of connections of the pool
}

// openScratch makes the scratch database for a table of a schema, whose
// character set it takes over; the schema is where unqualified names lead.
func openScratch(ctx context.Context, db *sql.DB, conn *sql.Conn, schema, name string) (_ *scratch, err error) {
	s := &scratch{db: db, conn: conn, table: table{schema: schema, name: name}, scratch: quote(scratchSchema) + "." + quote(name)}
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
		"CREATE DATABASE " + quote(scratchSchema) + " CHARACTER SET " + charset + " COLLATE " + collation,
		"CREATE TABLE " + quote(scratchSchema) + "." + quote(madeByUs) + " (id int PRIMARY KEY)",
		"USE " + quote(schema),
	} {
		if err := s.exec(ctx, stmt); err != nil {
			return nil, fmt.Errorf("making the scratch database %s, for which the account wants every right: %w", scratchSchema, err)
		}
	}
	return s, nil
}

// close drops the scratch database, and ends the connection with its lock and
// its settings. A plan that was cancelled has lost its connection: another one
// drops it then, unless the next plan is using it already.
func (s *scratch) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scratchDrop)
	defer cancel()
	err := s.drop(ctx)
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool must not get it back
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
	// The server takes a moment to see that the connection with the lock is gone.
	if mine, err := other.lock(ctx, scratchDrop/2); err != nil || !mine {
		return err
	}
	if err := other.unlogged(ctx); err != nil {
		return err
	}
	return other.drop(ctx)
}

var errNotOurs = errors.New("iikanji has not made the database " + scratchSchema)

// drop drops the scratch database, if it is there and ours. Who was killed
// after making it and before marking it has left it empty.
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
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+quote(scratchSchema)); err != nil {
		return fmt.Errorf("dropping the scratch database: %w", err)
	}
	return nil
}

// accessDenied is the server's ER_SPECIFIC_ACCESS_DENIED_ERROR.
const accessDenied = 1227

// unlogged keeps what this connection does out of the binary log: the scratch
// database is no replica's business. Only an administrator may; with another
// account replicas make it and drop it as well.
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

// lock waits for other plans to be done with the scratch database.
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

// shown is how the table is defined now.
func (s *scratch) shown(ctx context.Context) (string, error) {
	return change.TableDefinition(ctx, s.conn, s.scratch)
}

// Settings of a session that makes a table as it was shown, whatever its
// default values and wherever its foreign keys lead; and of one that alters it.
const (
	lenient = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0"
	strict  = "SET SESSION sql_mode = ?, foreign_key_checks = 1"
)

// copyOf makes an empty copy of the table. Only LIKE copies what a definition
// does not show (that an index was made for a foreign key, and goes when
// another can serve it), and only foreign keys are left out by it.
func (s *scratch) copyOf(ctx context.Context, definition string) error {
	d, _ := parseDefinition(definition)
	run := []string{"DROP TABLE IF EXISTS " + s.scratch, lenient, "CREATE TABLE " + s.scratch + " LIKE " + quote(s.schema) + "." + quote(s.table.name)}
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

// A tried change is one that an empty copy went through, there and back.
type tried struct {
	after    string   // the definition in between
	do, undo []string // clauses of ALTER TABLE
	online   bool     // the server does both while others write
}

// try alters an empty copy there and back. An index that the server would drop
// by itself, as the new one can serve its foreign key, is made to stay: what
// cannot be seen in a definition could not be undone to the letter.
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

// back takes it back.
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

// alter tries it online, and without where the server does not do that.
func (s *scratch) alter(ctx context.Context, t *tried, clauses []string) error {
	err := s.exec(ctx, altering(s.scratch, append(clauses[:len(clauses):len(clauses)], change.Online...)))
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && change.NotOnline(refused) {
		t.online = false
		err = s.exec(ctx, altering(s.scratch, clauses))
	}
	return err
}
