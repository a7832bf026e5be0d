package doctor

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestWithoutDatabase: of a site without a database, the first check names the database
// servers of the machine, and what to type for the statements of PostgreSQL.
func TestWithoutDatabase(t *testing.T) {
	server := &process.Process{Args: []string{"postgres"}}
	server.PID, server.Name = 77, "postgres"
	other := &process.Process{Args: []string{"mariadbd"}}
	other.PID, other.Name = 78, "mariadbd"
	m := &process.Machine{Processes: map[int]*process.Process{77: server, 78: other}, Listens: []process.Listen{
		{Address: netip.MustParseAddrPort("127.0.0.1:5432"), PIDs: []int{77}}, {Path: "/run/mysqld/mysqld.sock", PIDs: []int{78}}}}
	app := target.Service{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}
	checks := func(services ...target.Service) []Check {
		d := &round{Options: Options{File: &target.File{Services: services}}, m: map[string]*process.Machine{"": m}}
		d.limits()
		return d.out
	}
	out := checks(app)
	if len(out) != 2 || out[0].State != Warning || !strings.Contains(out[0].Says, "neither diagnosed nor changed yet") || !strings.Contains(out[0].Says, "127.0.0.1:5432") || !strings.Contains(out[0].Remedy, "iikanji slow --dsn postgres://USER@127.0.0.1:5432/DATABASE") ||
		!strings.Contains(out[1].Says, "mariadb runs at /run/mysqld/mysqld.sock") {
		t.Errorf("%+v", out)
	}
	if out := checks(app, target.Service{Name: "db", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}); len(out) != 0 {
		t.Errorf("with a database: %+v", out)
	}
	if out := checks(target.Service{Name: "web", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}); len(out) != 0 {
		t.Errorf("without an app: %+v", out)
	}
}
