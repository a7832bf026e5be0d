package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// observedLog is the file of the observed slow log, in the folder of the server's
// own slow log.
const observedLog = "observed-slow.log"

// A setting is a global variable of the server and its value.
type setting struct {
	name, value string
	some        bool // some servers do not have it: MariaDB, or MySQL before 8.0.14
}

// slowSettings make the server log every statement of later connections. Only
// log_output also applies to connections that are open already: it turns the log
// on and off at one moment.
var slowSettings = []setting{
	{name: "log_output", value: "NONE"},
	{name: "long_query_time", value: "0"},
	{name: "min_examined_row_limit", value: "0"},
	{name: "log_slow_rate_limit", value: "1", some: true},
	{name: "log_slow_verbosity", value: "query_plan", some: true},
	{name: "log_slow_extra", value: "1", some: true},
	{name: "slow_query_log_file"}, // the observed log
	{name: "slow_query_log", value: "1"},
}

// unknownVariable is ER_UNKNOWN_SYSTEM_VARIABLE.
const unknownVariable = 1193

// A slowSwitch turns the slow log of a MariaDB or MySQL on and off.
type slowSwitch struct {
	conn *sql.Conn // opened before, so that it is not logged itself
	path string
	host host.Host
	was  []setting // in the order in which they are to be put back

	own  bool  // the server's own log, which is on already: nothing is switched
	from int64 // where the load begins in that log
}

// newSlowSwitch makes a file of a name beside the server's own log and prepares
// the server to log into it. Nothing is logged yet.
func newSlowSwitch(ctx context.Context, db *sql.DB, h host.Host, own, file string) (_ *slowSwitch, err error) {
	if own == "" {
		return nil, errors.New("observing the database: the target names no slow log")
	}
	s := &slowSwitch{path: filepath.Join(filepath.Dir(own), file), host: h}
	if _, err := RestoreLogs(ctx, h, db, own); err != nil {
		return nil, err
	}
	if err := emptyLike(h, s.path, own); err != nil {
		return nil, err
	}
	if s.conn, err = db.Conn(ctx); err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	if err := s.save(ctx); err != nil {
		return nil, errors.Join(err, s.conn.Close())
	}
	for _, want := range slowSettings {
		if want.name == "slow_query_log_file" {
			want.value = s.path
		}
		if err := s.set(ctx, want); err != nil {
			return nil, errors.Join(err, s.restore(ctx))
		}
	}
	return s, nil
}

// save notes all settings before the first one is changed, for RestoreLogs.
func (s *slowSwitch) save(ctx context.Context) error {
	var all []setting
	for _, want := range slowSettings {
		was, known, err := s.read(ctx, want)
		if err != nil {
			return err
		}
		if known {
			all = append([]setting{was}, all...)
		}
	}
	return saveSettings(ctx, s.conn, s.host, s.path, all)
}

// read reads the value of a setting; known is false if the server lacks one that
// only some have.
func (s *slowSwitch) read(ctx context.Context, want setting) (was setting, known bool, err error) {
	was = setting{name: want.name}
	err = s.conn.QueryRowContext(ctx, "SELECT @@GLOBAL."+want.name).Scan(&was.value)
	var told *mysql.MySQLError
	if want.some && errors.As(err, &told) && told.Number == unknownVariable {
		return was, false, nil
	}
	if err != nil {
		return was, false, fmt.Errorf("reading %s: %w", want.name, err)
	}
	return was, true, nil
}

// set changes one setting and keeps its old value.
func (s *slowSwitch) set(ctx context.Context, want setting) error {
	was, known, err := s.read(ctx, want)
	if err != nil || !known {
		return err
	}
	s.was = append([]setting{was}, s.was...)
	return s.write(ctx, want)
}

func (s *slowSwitch) write(ctx context.Context, to setting) error {
	return writeSetting(ctx, s.conn, to)
}

// writeSetting sets a global variable. Numbers must not be quoted.
func writeSetting(ctx context.Context, conn *sql.Conn, to setting) error {
	text := "SET GLOBAL " + to.name + " = CAST(? AS DOUBLE)"
	switch to.name {
	case "min_examined_row_limit", "log_slow_rate_limit":
		text = "SET GLOBAL " + to.name + " = CAST(? AS UNSIGNED)"
	case "log_output", "log_slow_verbosity", "slow_query_log_file", "general_log_file":
		text = "SET GLOBAL " + to.name + " = ?"
	case "slow_query_log", "log_slow_extra", "general_log":
		text = "SET GLOBAL " + to.name + " = (? = '1')"
	}
	if _, err := conn.ExecContext(ctx, text, to.value); err != nil {
		return fmt.Errorf("setting %s of the database: %w", to.name, err)
	}
	return nil
}

// on starts the logging. Without a log it does nothing.
func (s *slowSwitch) on(ctx context.Context) error {
	if s == nil || s.own {
		return nil
	}
	return s.write(ctx, setting{name: "log_output", value: "FILE"})
}

func (s *slowSwitch) off(ctx context.Context) error {
	if s == nil || s.own {
		return nil
	}
	return s.write(ctx, setting{name: "log_output", value: "NONE"})
}

// restore puts back every setting and closes the connection.
func (s *slowSwitch) restore(ctx context.Context) error {
	var errs []error
	for _, was := range s.was {
		errs = append(errs, s.write(ctx, was))
	}
	if len(s.was) > 0 && errors.Join(errs...) == nil {
		errs = append(errs, forgetSettings(s.host, s.path))
	}
	s.was = nil
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	return errors.Join(errs...)
}

// emptyLike makes a new empty file on a host with the owner of another file, which
// is the account that the server runs as.
func emptyLike(h host.Host, path, other string) error {
	info, err := h.Stat(other)
	if errors.Is(err, os.ErrNotExist) { // the server makes it with the first slow statement
		info, err = h.Stat(filepath.Dir(other))
	}
	if err != nil {
		return fmt.Errorf("looking at the slow log: %w", err)
	}
	me, err := h.Account()
	if err != nil {
		return fmt.Errorf("making the observed log: %w", err)
	}
	if err := h.Remove(path); err != nil {
		return fmt.Errorf("removing the log of the last observation: %w", err)
	}
	if err := h.Create(path, nil, 0o644); err != nil {
		return fmt.Errorf("making the observed log: %w", err)
	}
	if owner, ok := host.OwnerOf(info); ok && owner.UID != me.UID {
		if err := h.Chown(path, owner); err != nil {
			return fmt.Errorf("making the observed log: %w", err)
		}
	}
	return nil
}
