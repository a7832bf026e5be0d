package mysqlconf

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
)

func remedy(kv ...string) iikanji.Remedy {
	args := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		args[kv[i]] = kv[i+1]
	}
	return iikanji.Remedy{Kind: "mysqlconf", Target: "database", Args: args}
}

// TestConformance holds the kind to the promises of every kind, with a real
// MariaDB that is restarted each time.
func TestConformance(t *testing.T) {
	s := newTestSite(t)
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Durability}},
		Remedies: map[string]iikanji.Remedy{"flush": remedy("innodb_flush_log_at_trx_commit", "2", "innodb_buffer_pool_size", "24M")},
		Serves:   func() error { return s.db.Ping() },
		Disturb: func(c *iikanji.Change) (func() error, error) {
			path := c.Do[0].Place
			was, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				return func() error { return os.Remove(path) }, os.WriteFile(path, []byte("# by hand\n"), 0o644)
			} else if err != nil {
				return nil, err
			}
			return func() error { return os.WriteFile(path, was, 0o644) }, os.WriteFile(path, append(was, "# by hand\n"...), 0o644)
		},
	})
}

// TestEffect: a restarted server runs with what was set, and doing it again is nothing.
func TestEffect(t *testing.T) {
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

// TestRefused: what may not be set, does not fit, or the server does not
// take, is refused before anything is touched.
func TestRefused(t *testing.T) {
	s := newTestSite(t)
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    iikanji.Remedy
		want string
	}{
		{remedy(), "no variable"},
		{remedy("init_file", "/etc/passwd"), "init_file"},
		{remedy("plugin_load_add", "x"), "plugin_load_add"},
		{remedy("max_connections", "10\nuser=root"), "max_connections"},
		{remedy("innodb_flush_log_at_trx_commit", "7"), "innodb_flush_log_at_trx_commit"},
		{remedy("innodb_buffer_pool_size", "900G"), "of the machine's memory"},
		{remedy("max_connections", "100000", "sort_buffer_size", "64M"), "of the machine's memory"},
		{remedy("innodb_flush_method", "O_DIRECT", "max_connections", "50.5"), "the server refuses"},
		{remedy("max_connections", "50"), change.ErrNothing.Error()},
		{remedy("innodb_buffer_pool_size", "16384k"), change.ErrNothing.Error()},
		{iikanji.Remedy{Kind: "mysqlconf", Target: "cache", Args: map[string]string{"back_log": "1"}}, "cache"},
	} {
		if _, err := change.Plan(t.Context(), s.open(s.dir), c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.r.Args, err, c.want)
		}
	}
	if after, err := s.state(); err != nil || after != before {
		t.Errorf("refusing left traces: %v\n%s", err, after)
	}
}

// TestPromises: what is weakened is told, and only when it was kept until now.
func TestPromises(t *testing.T) {
	safe := map[string]string{"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON", "performance_schema": "ON", "max_connections": "9"}
	for _, c := range []struct {
		set  map[string]string
		want []iikanji.Promise
	}{
		{map[string]string{"innodb_flush_log_at_trx_commit": "0"}, []iikanji.Promise{iikanji.Durability}},
		{map[string]string{"innodb_flush_log_at_trx_commit": "1", "max_connections": "5"}, nil},
		{map[string]string{"innodb_doublewrite": "0", "performance_schema": "off"}, []iikanji.Promise{iikanji.Durability, iikanji.Observability}},
		{map[string]string{"sync_binlog": "0"}, nil}, // was not 1
	} {
		if got, err := check(c.set, safe); err != nil || !slices.Equal(got, c.want) {
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
	memory, err := machineMemory([]byte("MemTotal:        4030456 kB\nMemFree: 1 kB\n"))
	if err != nil || memory != 4030456<<10 {
		t.Fatalf("%v %v", memory, err)
	}
	vars := func(pool, connections string) map[string]string {
		return map[string]string{"innodb_buffer_pool_size": pool, "max_connections": connections, "sort_buffer_size": "2097152", "thread_stack": "299008"}
	}
	if got, want := demand(vars("1G", "100")), iikanji.Bytes(1<<30+100*(2097152+299008)); got != want {
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
	if _, err := machineMemory([]byte("x")); err == nil {
		t.Error("no memory told, and taken")
	}
}
