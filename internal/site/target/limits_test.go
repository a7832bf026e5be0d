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
	f.Services[len(f.Services)-2].Listen, f.Services[len(f.Services)-2].Logs.Access = "0.0.0.0:80", "/var/log/apache2/access.log"
	f.Services[len(f.Services)-4].Listen, f.Services[len(f.Services)-4].Database.Schema = "0.0.0.0:5432", "shop"
	for i, want := range map[int]string{
		0: "service pg: PostgreSQL at 0.0.0.0:5432 was seen; for its slowest statements type: iikanji slow --dsn postgres://USER@127.0.0.1:5432/shop (pg_stat_statements), or, with log_min_duration_statement = 0: iikanji slow LOG. Its statements, ",
		1: "service mongo: mongodb was seen; look for its slow queries with its own tools. Its statements are ",
		2: "service old: Apache at 0.0.0.0:80, which writes /var/log/apache2/access.log, was seen; its requests are read there: if iikanji doctor says that they have no times, write LogFormat ",
		3: "service blog: the code of an app in php is neither diagnosed nor changed: ",
	} {
		if got := f.Limits()[i].Text(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
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
