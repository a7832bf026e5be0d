package mysqlconf

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func remedy(kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "mysqlconf", Target: "database", Args: changetest.Args(kv...)}
}

// TestConformance checks the promises of every kind, with a real MariaDB that is
// restarted each time.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Durability}},
		Remedies: map[string]iikanji.Remedy{
			"restart": remedy("innodb_flush_log_at_trx_commit", "2", "innodb_buffer_pool_size", "24M"),
			"live":    remedy("innodb_flush_log_at_trx_commit", "2", "innodb_adaptive_hash_index", "1"),
		},
		Effects: map[string]string{
			"restart": "innodb_buffer_pool_size is 25165824",
			"live":    "innodb_adaptive_hash_index is ON",
		},
		Serves: func() error { return s.db.Ping() },
		Disturb: func(op iikanji.Op) (func() error, error) {
			switch op.Place {
			case change.VariablePlace("database", "innodb_flush_log_at_trx_commit"):
				return s.setByHand("innodb_flush_log_at_trx_commit", "0")
			case change.VariablePlace("database", "innodb_adaptive_hash_index"):
				return nil, nil // the variable has no third value besides ON and OFF
			}
			return changetest.ByHand(op)
		},
	})
}

// setByHand sets a variable, and returns a function that restores it.
func (s *testSite) setByHand(name, value string) (calm func() error, err error) {
	set := func(value string) error {
		_, err := s.db.Exec("SET GLOBAL " + name + " = " + value)
		return err
	}
	var was string
	if err := s.db.QueryRow("SELECT @@GLOBAL." + name).Scan(&was); err != nil {
		return nil, err
	}
	return func() error { return set(was) }, set(value)
}

// TestEffect: a restarted server has the set values, and a second plan changes
// nothing.
func TestEffect(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	site, r := s.open(s.dir), remedy("innodb_flush_log_at_trx_commit", "0", "sort_buffer_size", "1M", "slow_query_log", "ON")
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	vars, err := variables(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range r.Args {
		if plain(vars[name]) != plain(want) {
			t.Errorf("%s is %s, want %s", name, vars[name], want)
		}
	}
	if _, err := change.Plan(t.Context(), site, r); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a second time: %v", err)
	}
}

// apply performs the ops of one side.
func (s *testSite) apply(t *testing.T, ops []iikanji.Op) {
	t.Helper()
	site := s.open(s.dir)
	for _, op := range ops {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatalf("%s %s: %v", op.Verb, op.Place, err)
		}
	}
}

// TestLive: for every setting that is listed as live, setting it without a
// restart gives the state after a restart, and so does the undo.
func TestLive(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	site := s.open(s.dir)
	values := map[string]string{"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "3", "innodb_flush_neighbors": "2", "innodb_lru_scan_depth": "301",
		"innodb_adaptive_hash_index": "on", "innodb_stats_on_metadata": "1", "thread_cache_size": "33", "table_definition_cache": "777"}
	for name, set := range settings {
		if _, tried := values[name]; set.live != tried {
			t.Errorf("%s: live %v, tried here %v", name, set.live, tried)
		}
	}
	before, err := variables(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, iikanji.Remedy{Kind: "mysqlconf", Target: "database", Args: values})
	if err != nil || c.Risk != iikanji.RiskNone {
		t.Fatalf("%+v %v", c, err)
	}
	pid := s.pid()
	holds := func(want map[string]string, when string) {
		t.Helper()
		now, err := variables(t.Context(), s.db)
		if err != nil {
			t.Fatal(err)
		}
		for name := range values {
			if plain(now[name]) != plain(want[name]) {
				t.Errorf("%s: %s is %s, want %s", when, name, now[name], want[name])
			}
		}
	}
	s.apply(t, c.Do)
	holds(values, "set")
	if s.pid() != pid {
		t.Error("the server was restarted")
	}
	if err := site.Services["database"].Running.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds(values, "restarted")
	if err := (Kind{}).InForce(t.Context(), site, c, true); err != nil {
		t.Error(err)
	}
	pid = s.pid()
	s.apply(t, c.Undo)
	holds(before, "undone")
	if s.pid() != pid {
		t.Error("the undo restarted the server")
	}
	if err := (Kind{}).InForce(t.Context(), site, c, true); err == nil || !strings.Contains(err.Error(), "table_definition_cache is") {
		t.Errorf("in force although undone: %v", err)
	}
	if err := site.Services["database"].Running.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds(before, "undone and restarted")
}

// TestMovedVariable: a variable that was set by hand since is not overwritten,
// and a value that the server changes is an error.
func TestMovedVariable(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	site := s.open(s.dir)
	h, err := history.Open(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	x := &change.Executor{Hands: site, Journal: h}
	c, err := change.Plan(t.Context(), site, remedy("thread_cache_size", "40"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	byHand := func(value string) {
		t.Helper()
		if _, err := s.db.Exec("SET GLOBAL thread_cache_size = " + value); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error) {
		t.Helper()
		var moved *change.MovedError
		if !errors.As(err, &moved) || !strings.Contains(moved.Diff, "7") {
			t.Errorf("%v", err)
		}
	}
	vars, err := variables(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	byHand("7")
	refused(x.Apply(t.Context(), c.ID))
	byHand(vars["thread_cache_size"])
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	byHand("7")
	refused(x.Revert(t.Context(), c.ID, "test"))
	byHand("40")
	if err := x.Revert(t.Context(), c.ID, "test"); err != nil {
		t.Fatal(err)
	}
	op := iikanji.Op{Verb: iikanji.SQL, Place: change.VariablePlace("database", "max_connections"), Body: change.SetGlobal("max_connections", "3")}
	if err := site.Perform(t.Context(), op); err == nil || !strings.Contains(err.Error(), "max_connections is 10") {
		t.Errorf("%v", err)
	}
	op.Place = change.VariablePlace("database", "x' OR 1")
	if _, err := site.State(t.Context(), op); err == nil || !strings.Contains(err.Error(), "is not a variable of") {
		t.Errorf("%v", err)
	}
}

// TestBinlogOff: a setting that no "name = value" line turns off is turned off
// and on again.
func TestBinlogOff(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	if err := os.WriteFile(filepath.Join(s.dir, "conf.d", "a.cnf"), []byte("[mysqld]\nlog_bin = binlog\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	site := s.open(s.dir)
	if err := site.Services["database"].Running.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	drop := "DELETE FROM mysql.global_priv WHERE User <> '' AND Host NOT IN ('', '%', 'localhost', '127.0.0.1', '::1')" // the installer's account of this machine's name
	for _, stmt := range []string{drop, "CREATE USER app@'db.example.org'", "FLUSH PRIVILEGES"} {
		if _, err := s.db.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := change.Plan(t.Context(), site, remedy("skip_name_resolve", "ON")); err != nil || !slices.Equal(c.Weakens, []iikanji.Promise{iikanji.Availability}) {
		t.Fatalf("an account by name: %+v %v", c, err)
	}
	if _, err := s.db.Exec("DROP USER app@'db.example.org'"); err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, remedy("log_bin", "OFF", "skip_name_resolve", "ON"))
	if err != nil || !slices.Equal(c.Weakens, []iikanji.Promise{iikanji.Durability}) || c.Risk != iikanji.RiskRestart {
		t.Fatalf("%+v %v", c, err)
	}
	for _, side := range []struct {
		ops  []iikanji.Op
		want string
	}{{c.Do, "OFF ON"}, {c.Undo, "ON OFF"}, {c.Do, "OFF ON"}} {
		s.apply(t, side.ops)
		vars, err := variables(t.Context(), s.db)
		if err != nil {
			t.Fatal(err)
		}
		if got := vars["log_bin"] + " " + vars["skip_name_resolve"]; got != side.want {
			t.Errorf("log_bin and skip_name_resolve are %s, want %s", got, side.want)
		}
	}
	if err := (Kind{}).InForce(t.Context(), site, c, true); err != nil {
		t.Error(err)
	}
	if _, err := change.Plan(t.Context(), site, remedy("log_bin", "0")); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a second time: %v", err)
	}
}

// TestDiagnoseAsks: the settings in the remedies of diagnose's rules can be
// planned, in the rules' spelling; sizes are rounded as the server rounds them.
func TestDiagnoseAsks(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	for _, c := range []struct {
		r    iikanji.Remedy
		line string
	}{
		{remedy("innodb_buffer_pool_size", "33554433"), "innodb_buffer_pool_size = 33554432\n"},
		{remedy("innodb_log_file_size", "16777216"), "innodb_log_file_size = 16777216\n"},
		{remedy("innodb_flush_log_at_trx_commit", "2"), "innodb_flush_log_at_trx_commit = 2\n"},
		{remedy("sync_binlog", "1"), "sync_binlog = 1\n"},
		{remedy("query_cache_type", "0", "query_cache_size", "0"), "query_cache_size = 0\nquery_cache_type = 0\n"},
		{remedy("max_connections", "104"), "max_connections = 104\n"},
		{remedy("table_open_cache", "4000"), "table_open_cache = 4000\n"},
		{remedy("thread_cache_size", "64"), "thread_cache_size = 64\n"},
		{remedy("tmp_table_size", "67108864", "max_heap_table_size", "67108864"), "max_heap_table_size = 67108864\ntmp_table_size = 67108864\n"},
	} {
		ch, err := change.Plan(t.Context(), s.open(s.dir), c.r)
		if err != nil || ch.Do[0].Body != header+c.line {
			t.Errorf("%v: %v, %+v", c.r.Args, err, ch)
		}
	}
}

// TestRefused: a setting that is not allowed, does not fit, or is not accepted
// by the server is refused before anything is changed.
func TestRefused(t *testing.T) {
	s := newTestSite(t)
	changetest.Refuse(t, s.open(s.dir), s.state, []struct {
		Remedy iikanji.Remedy
		Why    string
	}{
		{remedy(), "no variable"},
		{remedy("init_file", "/etc/passwd"), "init_file"},
		{remedy("plugin_load_add", "x"), "plugin_load_add"},
		{remedy("max_connections", "10\nuser=root"), "max_connections"},
		{remedy("innodb_flush_log_at_trx_commit", "7"), "innodb_flush_log_at_trx_commit"},
		{remedy("innodb_flush_method", "nosync"), "innodb_flush_method"},
		{remedy("log_bin", "/etc/x"), "log_bin"},
		{remedy("innodb_autoinc_lock_mode", "2"), "innodb_autoinc_lock_mode"},
		{remedy("innodb_redo_log_capacity", "1G"), "has no variable"},
		{remedy("max_connections", "5"), "10 to 100000"},
		{remedy("innodb_buffer_pool_size", "900G"), "of the machine's memory"},
		{remedy("max_connections", "100000", "sort_buffer_size", "64M"), "of the machine's memory"},
		{remedy("innodb_buffer_pool_size", "17179869184G"), "larger than any server"}, // 2^64
		{remedy("innodb_buffer_pool_size", "17179869185G"), "larger than any server"}, // 2^64 and 1 GiB
		{remedy("innodb_log_file_size", s.mostOfDisk(t)), "of disk"},
		{remedy("innodb_flush_method", "O_DIRECT", "max_connections", "50.5"), "the server refuses"},
		{remedy("max_connections", "50"), change.ErrNothing.Error()},
		{remedy("innodb_buffer_pool_size", "16384k"), change.ErrNothing.Error()},
		{iikanji.Remedy{Kind: "mysqlconf", Target: "cache", Args: map[string]string{"back_log": "1"}}, "cache"},
	})
}

// mostOfDisk returns three quarters of the free disk, or the largest log that
// the server accepts (512G), which must then be more than half of the disk.
func (s *testSite) mostOfDisk(t *testing.T) string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &fs); err != nil {
		t.Fatal(err)
	}
	return strconv.FormatInt(min(int64(fs.Bavail)*fs.Bsize/4*3>>20, 512<<10), 10) + "M"
}

// TestBytes: no unit turns a large number into a small one.
func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1k": 1 << 10, "3M": 3 << 20, "2G": 2 << 30, "1048576G": 1 << 50, "1125899906842624": 1 << 50,
		"1048577G": -1, "8589934592G": -1, "17179869185G": -1, "17592186044416M": -1, "1125899906842625": -1, "-1": -1, "": -1, "G": -1} {
		if got, ok := bytesOf(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %d %v, want %d", text, got, ok, want)
		}
	}
	far := map[string]string{"max_connections": "999999999999", "sort_buffer_size": "1048576G"}
	if got := demand(far); got < 1<<60 {
		t.Errorf("the demand of %v is %v", far, got)
	}
}

// TestPromises: a promise counts as weakened if the value is weaker than before,
// whether or not the value before was the strongest one.
func TestPromises(t *testing.T) {
	safe := map[string]string{"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON", "performance_schema": "ON", "max_connections": "9",
		"sync_binlog": "10", "join_buffer_size": "262144", "long_query_time": "10.000000", "skip_name_resolve": "OFF"}
	for _, c := range []struct {
		set  map[string]string
		want []iikanji.Promise
	}{
		{map[string]string{"innodb_flush_log_at_trx_commit": "0"}, []iikanji.Promise{iikanji.Durability}},
		{map[string]string{"innodb_flush_log_at_trx_commit": "1", "max_connections": "9"}, nil},
		{map[string]string{"max_connections": "5"}, []iikanji.Promise{iikanji.Availability}},
		{map[string]string{"join_buffer_size": "4M"}, []iikanji.Promise{iikanji.RowOrder}},
		{map[string]string{"join_buffer_size": "256K"}, nil},
		{map[string]string{"long_query_time": "999999"}, []iikanji.Promise{iikanji.Observability}},
		{map[string]string{"skip_name_resolve": "ON"}, []iikanji.Promise{iikanji.Availability}},
		{map[string]string{"innodb_doublewrite": "0", "performance_schema": "off"}, []iikanji.Promise{iikanji.Durability, iikanji.Observability}},
		{map[string]string{"sync_binlog": "0"}, []iikanji.Promise{iikanji.Durability}}, // 10 before: rarer, and still synced
	} {
		err := (&settingArgs{c.set}).Validate()
		if got := weakened(c.set, safe, true); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v weakens %v, %v; want %v", c.set, got, err, c.want)
		}
	}
}

func TestEdit(t *testing.T) {
	for _, c := range []struct{ old, want string }{
		{"", header + "back_log = 5\nmax_connections = 9\n"},
		{"# mine\n[mysqld]\nmax-connections=1 \n# more\nsort_buffer_size = 1M\nmax_connections = 2\n[client]\nback_log=1",
			"# mine\n[mysqld]\nmax_connections = 9\n# more\nsort_buffer_size = 1M\n[client]\nback_log=1\n[mysqld]\nback_log = 5\n"},
	} {
		old := []byte(c.old)
		if c.old == "" {
			old = nil
		}
		wanted := map[string]string{"max_connections": "9", "back_log": "5"}
		got := string(edit(old, wanted))
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		if again := string(edit([]byte(got), maps.Clone(wanted))); again != got {
			t.Errorf("a second time it is\n%s", again)
		}
	}
}

func TestMemory(t *testing.T) {
	info := []byte("MemTotal:        4030456 kB\nMemFree: 1 kB\nMemAvailable:    3000000 kB\n")
	memory, err := machineMemory(info, []byte("VmPeak:\t  9999999 kB\nVmRSS:\t  700000 kB\n"))
	if want := (machine{4030456 << 10, 3700000 << 10}); err != nil || memory != want {
		t.Fatalf("%v %v, want %v", memory, err, want)
	}
	vars := func(pool, connections string) map[string]string {
		return map[string]string{"innodb_buffer_pool_size": pool, "max_connections": connections, "sort_buffer_size": "2097152", "thread_stack": "299008",
			"tmp_table_size": "32M", "max_heap_table_size": "16M"}
	}
	if got, want := demand(vars("1G", "100")), iikanji.Bytes(1<<30+16<<20+100*(2097152+299008)); got != want {
		t.Errorf("demand %v, want %v", got, want)
	}
	small, large, larger := vars("1G", "100"), vars("1G", "2000"), vars("1G", "3000")
	if err := fits(small, large, memory); err == nil {
		t.Error("4.7 GB fit into 3.8 GB")
	}
	if err := fits(large, large, memory); err != nil {
		t.Errorf("no worse than before: %v", err)
	}
	if err := fits(large, larger, memory); err == nil {
		t.Error("worse than too much passed")
	}
	half := vars("2G", "100")
	if err := fits(small, half, memory); err != nil {
		t.Errorf("2.2 GB in 3.5 GB: %v", err)
	}
	if err := fits(small, half, machine{memory.total, 2 << 30}); err == nil {
		t.Error("2.2 GB fit into the 2 GB that others leave")
	}
	if _, err := machineMemory([]byte("x"), nil); err == nil {
		t.Error("unknown memory was accepted")
	}
}

// TestExact: values are those that the server would store, or are refused.
func TestExact(t *testing.T) {
	tr := trait{number: true, min: 16384, max: 1 << 30, step: 1024}
	for wanted, want := range map[string]string{"1M": "1M", "20000": "19456", "16384": "16384", "ON": "ON", "100": "", "2G": ""} {
		got, err := tr.exact("x", wanted)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q %v, want %q", wanted, got, err, want)
		}
	}
}
