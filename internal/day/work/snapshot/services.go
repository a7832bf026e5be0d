package snapshot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// services takes what runs.
func (t *taker) services() error {
	for _, in := range t.Services {
		s := state.Service{Name: in.Name, Role: in.Role, Engine: in.Engine, Config: in.Config, Source: in.Source, Loads: in.Loads, Unit: in.Unit}
		t.also(in.Config, in.DropIn, in.EnvFile, in.ArgsFile)
		if in.EnvFile != "" {
			s.EnvFiles = append(s.EnvFiles, in.EnvFile)
		}
		t.unitFiles(&s)
		t.processes(in, &s)
		t.reads(in, &s)
		if in.DB != nil {
			if err := t.database(in, &s); err != nil {
				return err
			}
		}
		t.sqlite(in, &s)
		t.out.Services = append(t.out.Services, s)
	}
	return nil
}

// now is the present time of the host's clock since its start.
func (t *taker) uptime() (time.Duration, error) {
	text, err := t.Host.Read("/proc/uptime")
	if err != nil {
		return 0, err
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	return time.ParseDuration(seconds + "s")
}

// processes takes program, environment and times of the root processes.
func (t *taker) processes(in Service, s *state.Service) {
	up, err := t.uptime()
	if err != nil || len(in.PIDs) == 0 {
		t.cannot("processes of "+in.Name, err)
		return
	}
	now := t.Now()
	started := func(pid int) time.Time {
		stat, err := hostproc.ReadStat(t.Host, pid)
		if err != nil {
			return time.Time{}
		}
		return now.Add(stat.SinceBoot() - up)
	}
	for _, pid := range in.PIDs {
		if at := started(pid); !at.IsZero() && (s.Started.IsZero() || at.Before(s.Started)) {
			s.Started = at
		}
	}
	s.Loaded = s.Started
	if s.Program, err = t.program(in.PIDs[0]); err != nil {
		t.cannot("program of "+in.Name, err)
	}
	if in.Engine == iikanji.EngineNginx {
		t.workers(in, s, started)
	}
	if in.Role != iikanji.RoleApp {
		return
	}
	env, err := hostproc.Env(t.Host, in.PIDs[0])
	if err != nil {
		t.cannot("environment of "+in.Name, err)
		return
	}
	s.Env = map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && !passing.MatchString(name) {
			s.Env[name] = t.store.Keyed([]byte(value))
		}
	}
}

// passing matches variables that a start sets anew: of systemd, of shells and logins.
var passing = regexp.MustCompile(`^(?:INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_\w+|MAINPID|NOTIFY_SOCKET|LISTEN_\w+|WATCHDOG_\w+|MEMORY_PRESSURE_\w+|CREDENTIALS_DIRECTORY|SHLVL|OLDPWD|PWD|_|SSH_\w+|XDG_\w+|TERM|COLUMNS|LINES|DBUS_\w+|LS_COLORS|SUDO_\w+|MAIL|WINDOWID|DISPLAY)$`)

// workers sets when nginx read its configuration: a reload starts new workers, and the
// former ones are shutting down.
func (t *taker) workers(in Service, s *state.Service, started func(pid int) time.Time) {
	var oldest time.Time
	for _, master := range in.PIDs {
		children, err := hostproc.Forked(t.Host, master)
		if err != nil {
			continue
		}
		for _, pid := range children {
			title, err := hostproc.Title(t.Host, pid)
			if err != nil || !strings.Contains(title, "worker process") || strings.Contains(title, "shutting down") {
				continue
			}
			if at := started(pid); !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
				oldest = at
			}
		}
	}
	if !oldest.IsZero() {
		s.Loaded = oldest
	}
}

// hostFiles are the files of a host for nginx's reader.
type hostFiles struct{ host.Host }

func (f hostFiles) Read(path string) ([]byte, error)      { return f.Host.Read(path) }
func (f hostFiles) Glob(pattern string) ([]string, error) { return f.Host.Glob(pattern) }

// reads lists the files that a service reads.
func (t *taker) reads(in Service, s *state.Service) {
	switch {
	case in.Config == "":
		return
	case in.Engine == iikanji.EngineNginx:
		c, err := nginx.Load(in.Config, hostFiles{t.Host})
		if err != nil {
			t.cannot("configuration of "+in.Name, err)
			return
		}
		for _, f := range c.Files {
			s.Reads = append(s.Reads, f.Path)
		}
	case in.Engine.MySQLFamily():
		t.optionFiles(in.Config, 0, &s.Reads)
	default:
		s.Reads = []string{in.Config}
	}
	for _, name := range slices.Clone(s.Reads) {
		if real, err := t.Host.RealPath(name); err == nil && real != name {
			s.Reads = append(s.Reads, real)
		}
	}
	t.also(s.Reads...)
}

// optionFiles lists the option files of a database server in the order in which it reads
// them.
func (t *taker) optionFiles(name string, depth int, all *[]string) {
	text, err := t.Host.Read(name)
	if err != nil || depth > 10 || slices.Contains(*all, name) {
		return
	}
	*all = append(*all, name)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if dir, ok := strings.CutPrefix(line, "!includedir"); ok {
			dir = strings.TrimSpace(dir)
			entries, err := t.Host.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if strings.HasSuffix(e.Name(), ".cnf") {
					t.optionFiles(filepath.Join(dir, e.Name()), depth+1, all)
				}
			}
		} else if file, ok := strings.CutPrefix(line, "!include"); ok {
			t.optionFiles(strings.TrimSpace(file), depth+1, all)
		}
	}
}

// restless are variables that move by themselves.
var restless = regexp.MustCompile(`^(?:gtid_\w+|timestamp|last_gtid|pseudo_\w+|server_uid|rand_seed\d|insert_id|identity|last_insert_id|error_count|warning_count|in_transaction|` +
	`innodb_buffer_pool_load_\w+|innodb_buffer_pool_dump_now|innodb_\w+_now|innodb_buffer_pool_load_abort|hostname|rpl_\w+|wsrep_\w+|external_user|proxy_user|skip_replication|thread_pool_\w+_trx_\w+|innodb_ft_\w*aux_table)$`)

// originQuery reads the variables of MariaDB with their origins.
const originQuery = `SELECT LOWER(VARIABLE_NAME), GLOBAL_VALUE, LOWER(GLOBAL_VALUE_ORIGIN) FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE IS NOT NULL`

// sourceQuery reads those of MySQL 8.
const sourceQuery = `SELECT LOWER(v.VARIABLE_NAME), v.VARIABLE_VALUE, LOWER(COALESCE(i.VARIABLE_SOURCE, '')) FROM performance_schema.global_variables v
LEFT JOIN performance_schema.variables_info i ON i.VARIABLE_NAME = v.VARIABLE_NAME`

// plainQuery reads those of any server.
const plainQuery = `SHOW GLOBAL VARIABLES`

// database takes the variables and the tables of a server.
func (t *taker) database(in Service, s *state.Service) error {
	ctx, cancel := context.WithTimeout(t.ctx, 20*time.Second)
	defer cancel()
	vars, err := variables(ctx, in.DB)
	if err != nil {
		if t.ctx.Err() != nil {
			return fmt.Errorf("reading the variables of %s: %w", in.Name, t.ctx.Err())
		}
		t.cannot("variables of "+in.Name, err)
	}
	for name, v := range vars {
		if secretName.MatchString(name) && v.Value != "" {
			v.Value = "digest:" + t.store.Keyed([]byte(v.Value))
			vars[name] = v
		}
	}
	s.Variables = vars
	if s.Tables, s.Created, err = tables(ctx, in.DB, in.Schema); err != nil {
		t.cannot("tables of "+in.Name, err)
	}
	return nil
}

func variables(ctx context.Context, db *sql.DB) (map[string]state.Variable, error) {
	var errs []error
	for _, query := range []string{originQuery, sourceQuery, plainQuery} {
		vars, err := variablesBy(ctx, db, query)
		if err == nil {
			return vars, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func variablesBy(ctx context.Context, db *sql.DB, query string) (map[string]state.Variable, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	vars := map[string]state.Variable{}
	for rows.Next() {
		var name string
		var value, origin sql.NullString
		into := []any{&name, &value, &origin}
		if err := rows.Scan(into[:len(columns)]...); err != nil {
			return nil, err
		}
		if !restless.MatchString(name) {
			vars[strings.ToLower(name)] = state.Variable{Value: value.String, Origin: origin.String}
		}
	}
	return vars, rows.Err()
}

// maxTables bounds the tables of one server.
const maxTables = 2_000

// tables reads the definitions of the tables of a schema; of all schemas that are not the
// server's own if it is "".
func tables(ctx context.Context, db *sql.DB, schema string) (all map[string]string, created map[string]time.Time, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	rows, err := conn.QueryContext(ctx, `SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(UNIX_TIMESTAMP(CREATE_TIME), 0) FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE'
AND (TABLE_SCHEMA = ? OR ? = '' AND TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'iikanji_trial')) ORDER BY 1, 2 LIMIT ?`, schema, schema, maxTables)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	all, created = map[string]string{}, map[string]time.Time{}
	var names [][2]string
	for rows.Next() {
		var name [2]string
		var at float64
		if err := rows.Scan(&name[0], &name[1], &at); err != nil {
			return nil, nil, err
		}
		created[name[0]+"."+name[1]] = time.Unix(int64(at), 0)
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		text, err := change.TableDefinition(ctx, conn, sqltext.MySQL.Quote(n[0])+"."+sqltext.MySQL.Quote(n[1]))
		if err != nil {
			return all, created, err
		}
		all[n[0]+"."+n[1]] = text
	}
	return all, created, nil
}

// maxSQLite is how many SQLite files of a service are read: those of tenants are alike.
const maxSQLite = 20

// sqlite takes the statements that define the tables and indexes of SQLite files.
func (t *taker) sqlite(in Service, s *state.Service) {
	if len(in.Files) > 0 {
		s.Tables = t.statements("tables of "+in.Name, in.Files...)
	}
	if in.Originals != "" {
		s.Originals = t.statements("originals of "+in.Name, in.Originals)
	}
}

var defines = regexp.MustCompile("(?is)^\\s*CREATE\\s+(?:UNIQUE\\s+)?(TABLE|INDEX|VIEW|TRIGGER)\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?[\"`\\[]?([^\"`\\]\\s(]+)")

func (t *taker) statements(what string, folders ...string) map[string]string {
	found, err := sqlitefile.Find(t.ctx, t.Host, folders...)
	if err != nil {
		t.cannot(what, err)
		return nil
	}
	all := map[string]string{}
	for _, f := range found[:min(len(found), maxSQLite)] {
		text, err := sqlitefile.StatementsOf(t.ctx, f.Path)
		if err != nil {
			t.cannot(what, err)
			continue
		}
		for _, stmt := range strings.Split(text, ";\n") {
			if m := defines.FindStringSubmatch(stmt); m != nil {
				all[strings.ToLower(m[1])+" "+m[2]] = strings.TrimSuffix(strings.TrimSpace(stmt), ";")
			}
		}
	}
	return all
}

// unitFolders are where unit files are, the first one counts.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system"}

// unitFiles finds the environment files of a service's unit.
func (t *taker) unitFiles(s *state.Service) {
	if s.Unit == "" {
		return
	}
	var names []string
	for _, dir := range unitFolders {
		if _, err := t.Host.Stat(filepath.Join(dir, s.Unit)); err == nil {
			names = append(names, filepath.Join(dir, s.Unit))
			break
		}
	}
	for _, dir := range unitFolders {
		drop, err := t.Host.Glob(filepath.Join(dir, s.Unit+".d", "*.conf"))
		if err == nil {
			names = append(names, drop...)
		}
	}
	t.also(names...)
	for _, name := range names {
		text, err := t.Host.Read(name)
		if err != nil {
			t.cannot(name, err)
			continue
		}
		for line := range strings.Lines(string(text)) {
			value, ok := strings.CutPrefix(strings.TrimSpace(line), "EnvironmentFile=")
			value = strings.TrimPrefix(strings.TrimSpace(value), "-")
			if ok && filepath.IsAbs(value) && !strings.ContainsAny(value, "%*?[") {
				s.EnvFiles = append(s.EnvFiles, value)
				t.also(value)
			}
		}
	}
}
