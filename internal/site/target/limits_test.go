package target

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestLimits: a site of Go, nginx, MariaDB and SQLite has none; databases come first.
func TestLimits(t *testing.T) {
	f := &File{Services: []Service{
		{Name: "web", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx},
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
		{Name: "db", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB},
		{Name: "files", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite},
		{Name: "cache", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis},
	}}
	if all := f.Limits(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	f.Services = append(f.Services, Service{Name: "blog", Role: iikanji.RoleApp, Engine: "php"},
		Service{Name: "worker", Role: iikanji.RoleApp}, Service{Name: "pg", Role: iikanji.RoleDatabase, Engine: EnginePostgreSQL},
		Service{Name: "mongo", Role: iikanji.RoleDatabase, Engine: "mongodb"}, Service{Name: "old", Role: iikanji.RoleWeb, Engine: "apache"},
		Service{Name: "proxy", Role: iikanji.RoleWeb, Engine: "envoy"})
	var names []string
	for _, l := range f.Limits() {
		names = append(names, l.Service)
		if !strings.Contains(l.Text(), l.Service) || !strings.Contains(l.Says, "neither diagnosed nor changed") {
			t.Errorf("%q", l.Text())
		}
	}
	if got := strings.Join(names, " "); got != "pg mongo old blog worker" {
		t.Errorf("limits of %s", got)
	}
}
