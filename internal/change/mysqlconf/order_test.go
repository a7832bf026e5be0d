package mysqlconf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestOverriding: a file that the server reads after the drop-in file, and that
// sets the variable to another value, is named.
func TestOverriding(t *testing.T) {
	const dropIn = "/conf/d/iikanji.cnf"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // "" if the setting lasts
	}{
		"after it":          {map[string]string{"my.cnf": "[mysqld]\n!includedir /conf/d\n", "d/own.cnf": "# mine\n[mysqld]\nmax-connections=9\n"}, "/conf/d/own.cnf:3"},
		"before it":         {map[string]string{"my.cnf": "[mysqld]\n!includedir /conf/d\n", "d/a.cnf": "[mysqld]\nmax_connections=9\n"}, ""},
		"the same value":    {map[string]string{"my.cnf": "[mysqld]\n!includedir /conf/d\n", "d/own.cnf": "[mysqld]\nmax_connections = 300\n"}, ""},
		"another section":   {map[string]string{"my.cnf": "!includedir /conf/d\n", "d/own.cnf": "[client]\nmax_connections=9\n"}, ""},
		"a version":         {map[string]string{"my.cnf": "!includedir /conf/d\n", "d/own.cnf": "[mariadb-10.11]\nloose_max_connections=9\n"}, "own.cnf:2"},
		"in the main file":  {map[string]string{"my.cnf": "!includedir /conf/d\n[mysqld]\nmax_connections=9\n"}, "/conf/my.cnf:3"},
		"main file before":  {map[string]string{"my.cnf": "[mysqld]\nmax_connections=9\n!includedir /conf/d\n"}, ""},
		"included later":    {map[string]string{"my.cnf": "!includedir /conf/d\n!include /conf/x.cnf\n", "x.cnf": "[mariadb]\nmax_connections=9\n"}, "/conf/x.cnf:2"},
		"no .cnf":           {map[string]string{"my.cnf": "!includedir /conf/d\n", "d/own.conf": "[mysqld]\nmax_connections=9\n"}, ""},
		"not included":      {map[string]string{"my.cnf": "[mysqld]\nmax_connections=9\n"}, ""},
		"it is there":       {map[string]string{"my.cnf": "!includedir /conf/d\n", "d/iikanji.cnf": "[mysqld]\nmax_connections=5\n", "d/z.cnf": "[server]\nmax_connections=9\n"}, "z.cnf:2"},
		"set back after it": {map[string]string{"my.cnf": "!includedir /conf/d\n", "d/x.cnf": "[mysqld]\nmax_connections=9\n", "d/z.cnf": "[mysqld]\nmax_connections=300\n"}, ""},
		"including itself":  {map[string]string{"my.cnf": "!include /conf/my.cnf\n"}, "include each other"},
	} {
		fake := &host.Fake{Root: t.TempDir()}
		for path, text := range c.files {
			at := filepath.Join(fake.Root, "conf", path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		s := &change.Site{Hosts: map[string]host.Host{"": fake}}
		err := overriding(s, change.Service{Config: "/conf/my.cnf", DropIn: dropIn}, map[string]string{"max_connections": "300"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestLostSetting: a live setting that a later file overrides at the next start is
// refused in the plan; one that a file written afterwards overrides is found when
// it is read back.
func TestLostSetting(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	site := s.open(s.dir)
	svc := site.Services["database"]
	svc.Config = filepath.Join(s.dir, "my.cnf")
	site.Services["database"] = svc
	own := filepath.Join(filepath.Dir(svc.DropIn), "zzz-own.cnf")
	write := func() {
		t.Helper()
		if err := os.WriteFile(own, []byte("[mysqld]\nthread_cache_size = 7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write()
	var lost *overridden
	if _, err := change.Plan(t.Context(), site, remedy("thread_cache_size", "40")); !errors.As(err, &lost) || lost.file != own {
		t.Fatalf("%v", err)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, remedy("thread_cache_size", "40"))
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	if err := site.ReadBack(t.Context(), c, false); err != nil {
		t.Errorf("applied: %v", err)
	}
	write()
	if err := site.ReadBack(t.Context(), c, false); !errors.As(err, &lost) {
		t.Errorf("overridden since: %v", err)
	}
	if err := svc.Running.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := site.ReadBack(t.Context(), c, true); err == nil || !strings.Contains(err.Error(), "thread_cache_size is 7") || !strings.Contains(err.Error(), own) {
		t.Errorf("after the restart: %v", err)
	}
	c.Do = []iikanji.Op{{Verb: iikanji.Restart, Place: "database"}}
	if err := site.ReadBack(t.Context(), c, true); err != nil {
		t.Errorf("a change without the file: %v", err)
	}
}
