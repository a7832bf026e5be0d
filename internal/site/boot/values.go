package boot

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// What a running server was told, and by whom: MariaDB keeps the origin and the default of
// each variable, MySQL 8 the source.
const (
	originQuery = `SELECT LOWER(VARIABLE_NAME), COALESCE(GLOBAL_VALUE, ''), COALESCE(DEFAULT_VALUE, '') FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE_ORIGIN = 'SQL'`
	sourceQuery = `SELECT LOWER(i.VARIABLE_NAME), COALESCE(g.VARIABLE_VALUE, ''), '' FROM performance_schema.variables_info i JOIN performance_schema.global_variables g USING (VARIABLE_NAME) WHERE i.VARIABLE_SOURCE = 'DYNAMIC'`
)

// passing are variables that a server sets itself, or that only observe.
var passing = []string{"gtid_binlog_state", "gtid_slave_pos", "gtid_binlog_pos", "gtid_current_pos", "gtid_executed", "gtid_purged", "log_bin_basename", "innodb_buffer_pool_dump_now",
	"innodb_buffer_pool_load_now", "innodb_buffer_pool_load_abort", "innodb_status_output", "timestamp", "rand_seed1", "rand_seed2",
	"slow_query_log", "slow_query_log_file", "long_query_time", "log_slow_query", "log_slow_query_file", "log_slow_query_time", "log_queries_not_using_indexes", "min_examined_row_limit", "general_log", "log_output", "log_slow_verbosity", "log_slow_extra", "log_slow_rate_limit"}

// variables finds the variables of database servers that were set while they run, and that
// a start would give another value.
func (a *Asker) variables(ctx context.Context, b *fact.Boot) error {
	var errs []error
	for _, s := range a.here() {
		if !s.Engine.MySQLFamily() || a.DB == nil || a.DB(s.Name) == nil {
			continue
		}
		told, err := setWhileRunning(ctx, a.DB(s.Name))
		if err == nil && len(told) > 0 {
			var files map[string]string
			if files, err = a.serverFiles(ctx, s); err == nil {
				b.Variables = append(b.Variables, lost(s.Name, told, files)...)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// A setting is a variable that was set while the server runs.
type setting struct{ name, now, def string }

func setWhileRunning(ctx context.Context, db *sql.DB) ([]setting, error) {
	rows, err := db.QueryContext(ctx, originQuery)
	if err != nil {
		if rows, err = db.QueryContext(ctx, sourceQuery); err != nil {
			return nil, fmt.Errorf("reading who set the variables: %w", err)
		}
	}
	defer rows.Close()
	var out []setting
	for rows.Next() {
		var s setting
		if err := rows.Scan(&s.name, &s.now, &s.def); err != nil {
			return nil, fmt.Errorf("reading who set the variables: %w", err)
		}
		if !slices.Contains(passing, s.name) {
			out = append(out, s)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading who set the variables: %w", err)
	}
	return out, nil
}

// serverFiles are the variables that the server's files and its command line set at a start,
// by my_print_defaults, which reads the files as the server does.
func (a *Asker) serverFiles(ctx context.Context, s iikanji.Service) (map[string]string, error) {
	var args []string
	var own string
	if len(s.PIDs) > 0 {
		line, err := hostproc.Args(a.Host, s.PIDs[0])
		if err != nil {
			return nil, err
		}
		for _, word := range line {
			if strings.HasPrefix(word, "--defaults-file=") || strings.HasPrefix(word, "--defaults-extra-file=") || word == "--no-defaults" {
				args = append(args, word)
			}
		}
		own = strings.Join(line, "\n")
	}
	out, err := a.run(ctx, "my_print_defaults", append(args, "--mysqld")...)
	if err != nil {
		return nil, err
	}
	return optionLines(out + "\n" + own), nil
}

// optionLines reads options, one a line, as in "--innodb-buffer-pool-size=1G". A later one
// wins.
func optionLines(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
		if !ok {
			continue
		}
		name, value, has := strings.Cut(rest, "=")
		name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
		name = strings.TrimPrefix(name, "loose_")
		switch {
		case has:
		case strings.HasPrefix(name, "skip_"):
			name, value = strings.TrimPrefix(name, "skip_"), "0"
		default:
			value = "1"
		}
		out[name] = value
	}
	return out
}

// lost are the settings that a start changes.
func lost(service string, told []setting, files map[string]string) (out []fact.BootValue) {
	for _, t := range told {
		then, inFile := files[t.name]
		if !inFile {
			then = t.def
		}
		if canonical(t.now) == canonical(then) {
			continue
		}
		v := fact.BootValue{Service: service, Name: t.name, Now: t.now, Then: then}
		if inFile {
			v.File = "its files"
		}
		out = append(out, v)
	}
	return out
}

// canonical is a value in one form: numbers without a unit, ON and OFF as 1 and 0, in
// capital letters.
func canonical(value string) string {
	v := strings.ToUpper(strings.Trim(strings.TrimSpace(value), `"'`))
	switch v {
	case "ON", "TRUE", "YES":
		return "1"
	case "OFF", "FALSE", "NO":
		return "0"
	}
	if v == "" {
		return v
	}
	if i := strings.IndexByte("KMGT", v[len(v)-1]); i >= 0 {
		if n, err := strconv.ParseInt(v[:len(v)-1], 10, 64); err == nil {
			return strconv.FormatInt(n<<(10*(i+1)), 10)
		}
	}
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return v
}

// kernelDefaults are variables of the kernel that are set by hand on web servers, with the
// defaults of its versions; those that depend on the machine's memory are not in it.
var kernelDefaults = map[string][]string{
	"net.core.somaxconn":                 {"4096", "128"},
	"net.core.netdev_max_backlog":        {"1000"},
	"net.ipv4.ip_local_port_range":       {"32768 60999", "32768 61000"},
	"net.ipv4.tcp_tw_reuse":              {"2", "0"},
	"net.ipv4.tcp_fin_timeout":           {"60"},
	"net.ipv4.tcp_slow_start_after_idle": {"1"},
	"vm.swappiness":                      {"60"},
	"vm.dirty_ratio":                     {"20"},
	"vm.dirty_background_ratio":          {"10"},
	"vm.overcommit_memory":               {"0"},
}

// kernel finds the kernel's variables that a boot would change: those that differ from the
// last file that sets them, and those without a file that differ from the default. Other
// variables of the distribution's own files are left out: its programs change some again.
func (a *Asker) kernel(b *fact.Boot) {
	files, from := a.sysctlFiles()
	names := map[string]bool{}
	for name := range kernelDefaults {
		names[name] = true
	}
	for name := range files {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text, err := a.Host.Read(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")))
		if err != nil {
			continue // not in this kernel or this namespace
		}
		now := strings.Join(strings.Fields(string(text)), " ")
		then, inFile := files[name]
		switch {
		case inFile && then != now && (kernelDefaults[name] != nil || strings.HasPrefix(from[name], "/etc/")):
			b.Kernel = append(b.Kernel, fact.BootValue{Name: name, Now: now, Then: then, File: from[name]})
		case !inFile && !slices.Contains(kernelDefaults[name], now):
			b.Kernel = append(b.Kernel, fact.BootValue{Name: name, Now: now, Then: kernelDefaults[name][0]})
		}
	}
}

// sysctlFolders hold the files of sysctl.d(5), in order of precedence.
var sysctlFolders = []string{"/etc/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// sysctlFiles are the values that files set at boot, with the file of each. Of two files of
// one name the one in the first folder counts; they are read in the order of their names.
func (a *Asker) sysctlFiles() (values, from map[string]string) {
	values, from = map[string]string{}, map[string]string{}
	paths := map[string]string{}
	for _, dir := range slices.Backward(sysctlFolders) {
		files, err := a.Host.Glob(filepath.Join(dir, "*.conf"))
		if err != nil {
			continue
		}
		for _, file := range files {
			paths[filepath.Base(file)] = file
		}
	}
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		text, err := a.Host.Read(paths[name])
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			key = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(key), "-"), "/", ".")
			if ok && key != "" && key[0] != '#' && key[0] != ';' && !strings.Contains(key, "*") {
				values[key], from[key] = strings.Join(strings.Fields(value), " "), paths[name]
			}
		}
	}
	return values, from
}

// redisWait limits the questions to one Redis.
const redisWait = 2 * time.Second

// stores asks each Redis whether its data outlive a boot, and whether it has data that do
// not expire.
func (a *Asker) stores(ctx context.Context, b *fact.Boot) error {
	var errs []error
	for _, s := range a.here() {
		if s.Engine != iikanji.EngineRedis {
			continue
		}
		store, err := a.store(ctx, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
			continue
		}
		b.Stores = append(b.Stores, store)
	}
	return errors.Join(errs...)
}

func (a *Asker) store(ctx context.Context, s iikanji.Service) (fact.BootStore, error) {
	ctx, cancel := context.WithTimeout(ctx, redisWait)
	defer cancel()
	store := fact.BootStore{Service: s.Name, Queue: s.Role == iikanji.RoleQueue}
	network, address := "tcp", s.Address
	if s.Socket != "" {
		network, address = "unix", s.Socket
	}
	conn, err := a.Host.Dial(ctx, network, address)
	if err != nil {
		return store, fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(redisWait)); err != nil {
		return store, fmt.Errorf("asking it: %w", err)
	}
	// Commands in a line, and answers that are read as text: what is asked has no line feeds.
	if _, err := io.WriteString(conn, "CONFIG GET save\r\nCONFIG GET appendonly\r\nCONFIG GET maxmemory-policy\r\nINFO keyspace\r\nQUIT\r\n"); err != nil {
		return store, fmt.Errorf("asking it: %w", err)
	}
	return store, readStore(io.LimitReader(conn, 1<<20), &store)
}

// readStore reads the answers of a Redis in the order of their lines.
func readStore(r io.Reader, store *fact.BootStore) error {
	sc := bufio.NewScanner(r)
	asked, answered := "", false
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		switch {
		case strings.HasPrefix(line, "-"):
			return fmt.Errorf("it answers %s", line)
		case line == "" || strings.ContainsAny(line[:1], "*$+"):
			continue
		case line == "save" || line == "appendonly" || line == "maxmemory-policy":
			asked = line
		case asked == "save":
			store.Persistent, asked = true, ""
		case asked == "appendonly":
			store.Persistent, asked, answered = store.Persistent || line == "yes", "", true
		case asked == "maxmemory-policy":
			store.Evicts, asked = strings.HasPrefix(line, "allkeys"), ""
		case strings.HasPrefix(line, "db"):
			var keys, expires int64
			_, fields, _ := strings.Cut(line, ":")
			for field := range strings.SplitSeq(fields, ",") {
				name, value, _ := strings.Cut(field, "=")
				n, _ := strconv.ParseInt(value, 10, 64)
				switch name {
				case "keys":
					keys = n
				case "expires":
					expires = n
				}
			}
			store.Forever += keys - expires
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("reading its answers: %w", err)
	}
	if !answered {
		return errors.New("it does not tell its settings")
	}
	return nil
}
