package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestAskUnits checks that a service run by systemd has facts about its unit and its
// start time, and that a service without a unit, as in an arena, has none.
func TestAskUnits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("db.service", "[Service]\nType=notify\nExecStart=/usr/sbin/mariadbd\n")
	log := write("error.log", "2026-11-21 10:00:00 0 [Note] Starting MariaDB 10.11.19-MariaDB as process 77\n2026-11-21 10:00:06 0 [Note] mariadbd: ready for connections.\n")
	target := iikanji.Target{Name: "site", UnitFolders: []string{dir}, Services: []iikanji.Service{
		{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Unit: "db", Logs: []iikanji.Log{{Kind: "error", Path: log}}}, {Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, PIDs: []int{os.Getpid()}}}}
	ob := &Observation{Run: &iikanji.Run{}}
	known := askUnits(host.Local{}, target, ob)
	if len(known) != 2 || known[0].Topic != string(fact.TopicUnit) || known[0].Target != "database" || known[1].Topic != string(fact.TopicReady) || fact.Text(known[1]) != "7" || len(ob.Run.Warnings) > 0 {
		t.Errorf("%+v, %v", known, ob.Run.Warnings)
	}
	target.Services[0].Unit = ""
	if known := askUnits(host.Local{}, target, ob); len(known) > 0 || len(ob.Run.Warnings) > 0 {
		t.Errorf("%+v, %v", known, ob.Run.Warnings)
	}
	target.Services[0].Unit, target.UnitFolders = "db", []string{log}
	if known := askUnits(host.Local{}, target, ob); len(known) > 0 || len(ob.Run.Warnings) != 1 || !strings.HasPrefix(ob.Run.Warnings[0], "less is known about how services start: reading the units of site: ") {
		t.Errorf("%+v, %v", known, ob.Run.Warnings)
	}
}
