package facts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

const appUnit = `# the app; [Service] of its own
[Unit]
Description=the app
After=network.target \
   mariadb.service \
# a comment within
; and another
   redis.service
Wants = mariadb.service

[Service]
Type=simple
ExecStart=/home/app/run --dir "a b" \
  --more
Restart=always
no assignment
[Install]
WantedBy=multi-user.target
`

// plant writes a folder of units; "-> x" is a link to x.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "system")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o644)
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Remove(path)
			if err == nil {
				err = os.Symlink(to, path)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// printed are settings as "line Section.Key=Value".
func printed(all []fact.Setting) string {
	var sb strings.Builder
	for _, s := range all {
		fmt.Fprintf(&sb, "%d %s.%s=%s\n", s.Line, s.Section, s.Key, s.Value)
	}
	return sb.String()
}

func TestParseUnit(t *testing.T) {
	for text, want := range map[string]string{
		appUnit: "3 Unit.Description=the app\n4 Unit.After=network.target     mariadb.service     redis.service\n9 Unit.Wants=mariadb.service\n" +
			"12 Service.Type=simple\n13 Service.ExecStart=/home/app/run --dir \"a b\"    --more\n15 Service.Restart=always\n18 Install.WantedBy=multi-user.target\n",
		"A=1\n[X]\nB=":                    "3 X.B=\n",
		"[X]\n=1\n[Y\nC=2\n[Z]\nD==3 # x": "6 Z.D==3 # x\n",
		"\uFEFF[X]\r\nA=1 \\\r\n 2\r\n":   "2 X.A=1   2\n",
		"[X]\nA=1\\\\\nB=2\\":             "2 X.A=1\\\\\n3 X.B=2\n",
		"[X]\nA=\xff\x00":                 "2 X.A=\uFFFD\x00\n",
		"":                                "",
	} {
		if got := printed(ParseUnit("f", text)); got != want {
			t.Errorf("%q:\n%swant:\n%s", text, got, want)
		}
	}
}

// TestEffective checks that an empty assignment resets a list, but not dependencies
// and not keys with a single value.
func TestEffective(t *testing.T) {
	got := printed(effective(ParseUnit("f", "[Unit]\nAfter=a\nAfter=\nAfter=b\n[Service]\nExecStart=x\nExecStart=\nExecStart=y\nRestart=always\nRestart=\nEnvironment=A=1\n[Install]\nEnvironment=\n")))
	if want := "2 Unit.After=a\n4 Unit.After=b\n8 Service.ExecStart=y\n9 Service.Restart=always\n11 Service.Environment=A=1\n"; got != want {
		t.Errorf("%swant:\n%s", got, want)
	}
}

// FuzzParseUnit checks that each result is a complete assignment of an existing line,
// and that it is parsed to the same value after it is written again.
func FuzzParseUnit(f *testing.F) {
	f.Add(appUnit)
	f.Add("[X]\nA=\\\n\\\n#\nB=\\\\\\")
	f.Add("[[X]\n]=[Y]\r\r\n\x00=\x00")
	f.Fuzz(func(t *testing.T, text string) {
		all := ParseUnit("f", text)
		var again strings.Builder
		last := 0
		for _, s := range all {
			if s.Section == "" || s.Key == "" || strings.ContainsAny(s.Section+s.Key+s.Value, "\n") || s.Line <= last || s.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q: %+v after line %d", text, s, last)
			}
			last = s.Line
			fmt.Fprintf(&again, "[%s]\n%s=%s \n", s.Section, s.Key, s.Value) // the blank keeps a final backslash in the value
		}
		for i, s := range ParseUnit("f", again.String()) {
			if s.Line = all[i].Line; s != all[i] {
				t.Fatalf("%q: %+v, read again %+v", text, all[i], s)
			}
		}
		if n := len(ParseUnit("f", again.String())); n != len(all) {
			t.Fatalf("%q: %d settings, read again %d", text, len(all), n)
		}
		effective(all)
	})
}

// system is a small system, whose boot starts units through a custom target, an
// alias and a socket.
var system = map[string]string{
	"default.target":    "-> multi-user.target",
	"multi-user.target": "[Unit]\nRequires=basic.target\nAfter=basic.target\n",
	"basic.target":      "[Unit]\nWants=sockets.target\n",
	"mariadb.service":   "[Service]\nType=notify\nExecStart=/usr/sbin/mariadbd\n[Install]\nWantedBy=multi-user.target\nAlias=mysql.service\n",
	"mysql.service":     "-> mariadb.service",
	"multi-user.target.wants/mariadb.service":  "-> ../mariadb.service",
	"multi-user.target.wants/site.target":      "-> ../site.target",
	"site.target":                              "[Unit]\nDescription=all of it\n[Install]\nWantedBy=multi-user.target\n",
	"site.target.requires/app.service":         "-> /home/app/the-app.service",
	"app.service":                              "[Unit]\nAfter=mysql.service\n[Service]\nExecStart=/home/app/run\n[Install]\nRequiredBy=site.target\n",
	"app.service.d/20-again.conf":              "[Service]\nRestart=always\n",
	"service.d/10-all.conf":                    "[Service]\nRestart=no\nEnvironment=A=1\n",
	"late.service":                             "[Unit]\nAfter=multi-user.target\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
	"multi-user.target.wants/late.service":     "-> ../late.service",
	"off.service":                              "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
	"masked.service":                           "-> /dev/null",
	"sockets.target.wants/web.socket":          "-> ../web.socket",
	"web.socket":                               "[Socket]\nListenStream=80\n[Install]\nWantedBy=sockets.target\n",
	"web.service":                              "[Service]\nExecStart=/bin/true\n",
	"worker@.service":                          "[Service]\nExecStart=/bin/worker %i\n[Install]\nWantedBy=multi-user.target\n",
	"multi-user.target.wants/worker@1.service": "-> ../worker@.service",
}

// unitsOf are the units of services with the same names as their units.
func unitsOf(t *testing.T, folders []string, names ...string) map[string]fact.Unit {
	t.Helper()
	target := iikanji.Target{Name: "test", UnitFolders: folders}
	for _, n := range names {
		target.Services = append(target.Services, iikanji.Service{Name: n, Unit: n})
	}
	known, err := UnitFacts(host.Local{}, target)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]fact.Unit{}
	for _, f := range known {
		var u fact.Unit
		if err := json.Unmarshal([]byte(fact.Text(f)), &u); err != nil || f.Key != u.Name || f.Topic != string(fact.TopicUnit) {
			t.Fatalf("%+v: %v", f, err)
		}
		out[f.Target] = u
	}
	return out
}

func TestUnitFacts(t *testing.T) {
	dir := plant(t, system)
	units := unitsOf(t, []string{dir, dir + ".none"}, "mysql", "app.service", "late", "off", "masked", "web", "worker@1", "nobody", "../../etc/passwd")
	chain := func(names ...string) string { return strings.Join(names, " ") }
	for name, want := range map[string]struct{ unit, boot, afterDB, masked string }{
		"mysql":       {"mariadb.service", chain("multi-user.target", "mariadb.service"), "", ""},
		"app.service": {"app.service", chain("multi-user.target", "site.target", "app.service"), chain("app.service", "mariadb.service"), ""},
		"late":        {"late.service", chain("multi-user.target", "late.service"), chain("late.service", "multi-user.target", "mariadb.service"), ""},
		"off":         {"off.service", "", "", ""},
		"masked":      {"masked.service", "", "", filepath.Join(dir, "masked.service")},
		"web":         {"web.service", chain("multi-user.target", "basic.target", "sockets.target", "web.socket", "web.service"), "", ""},
		"worker@1":    {"worker@1.service", chain("multi-user.target", "worker@1.service"), "", ""},
	} {
		u := units[name]
		if u.Name != want.unit || chain(u.Boot...) != want.boot || chain(u.Follows["mariadb.service"]...) != want.afterDB || u.Masked != want.masked {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if len(units) != 7 {
		t.Errorf("%d units", len(units))
	}
	app := units["app.service"]
	if want := []string{"app.service", "service.d/10-all.conf", "app.service.d/20-again.conf"}; len(app.Files) != 3 || !strings.HasSuffix(app.Files[1], want[1]) || !strings.HasSuffix(app.Files[2], want[2]) {
		t.Errorf("%v", app.Files)
	}
	if strings.Contains(printed(app.Settings), "Environment") {
		t.Errorf("a possible secret is included:\n%s", printed(app.Settings))
	}
	if last := app.Settings[len(app.Settings)-1]; last.Key != "Restart" || last.Value != "always" || last.Line != 2 || last.File != filepath.Join(dir, "app.service.d/20-again.conf") {
		t.Errorf("%+v", last)
	}
	if !slices.Equal(units["mysql"].Aliases, []string{"mysql.service"}) {
		t.Errorf("%+v", units["mysql"].Aliases)
	}
}

// TestUnitFolders checks that the first folder with a name takes precedence, for
// units, drop-ins and links, and that systemd's own configuration is read beside
// the folders.
func TestUnitFolders(t *testing.T) {
	etc := plant(t, map[string]string{
		"app.service.d/a.conf":                "-> /dev/null",
		"off.service":                         "-> /dev/null",
		"multi-user.target.wants/app.service": "-> /dev/null",
		"../system.conf":                      "[Manager]\nDefaultStartLimitBurst=9\n",
		"../system.conf.d/b.conf":             "[Manager]\nDefaultStartLimitBurst=7\n",
	})
	lib := plant(t, map[string]string{
		"app.service":                         "[Service]\nExecStart=/bin/true\nRestart=no\n",
		"app.service.d/a.conf":                "[Service]\nRestart=always\n",
		"app.service.d/z.txt":                 "[Service]\nRestart=on-abort\n",
		"off.service":                         "[Service]\nExecStart=/bin/true\n",
		"multi-user.target.wants/app.service": "-> ../app.service",
		"multi-user.target.wants/off.service": "-> ../off.service",
		"loop.service":                        "-> pool.service",
		"pool.service":                        "-> loop.service",
	})
	units := unitsOf(t, []string{etc, lib}, "app", "off", "loop")
	app := units["app"]
	if got := printed(app.Settings); got != "2 Service.ExecStart=/bin/true\n3 Service.Restart=no\n2 Manager.DefaultStartLimitBurst=9\n2 Manager.DefaultStartLimitBurst=7\n" || len(app.Boot) != 0 {
		t.Errorf("%s%v", got, app.Boot)
	}
	if off := units["off"]; off.Masked != filepath.Join(etc, "off.service") {
		t.Errorf("%+v", off)
	}
	if _, ok := units["loop"]; ok {
		t.Error("a circle of links is a unit")
	}
}

// TestUnitFactsNone checks that a service without a unit has no facts, whatever units
// exist.
func TestUnitFactsNone(t *testing.T) {
	fs, err := UnitFacts(host.Local{}, iikanji.Target{Services: []iikanji.Service{{Name: "app"}, {Name: "me", PIDs: []int{os.Getpid(), 1 << 30}}}, UnitFolders: []string{plant(t, system)}})
	if err != nil || len(fs) != 0 {
		t.Errorf("%v, %v", fs, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := UnitFacts(host.Local{}, iikanji.Target{Services: []iikanji.Service{{Name: "app", Unit: "app"}}, UnitFolders: []string{file}}); err == nil || !strings.Contains(err.Error(), "listing systemd's units") {
		t.Errorf("a file for a folder: %v", err)
	}
}

func TestCgroupUnit(t *testing.T) {
	for text, want := range map[string]string{
		"0::/system.slice/nginx.service\n":                                          "nginx.service",
		"0::/system.slice/system-app.slice/app@1.service/worker\n":                  "app@1.service",
		"12:cpu:/x.service\n1:name=systemd:/system.slice/mysql.service\n":           "mysql.service",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/mine.service\n": "",
		"0::/system.slice/docker-0a1b.scope\n":                                      "",
		"0::/../../x.service\n":                                                     "",
		"0::/\n":                                                                    "",
		"":                                                                          "",
	} {
		if got := cgroupUnit(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestAgainstSystemctl compares with the real systemctl on the same folder.
func TestAgainstSystemctl(t *testing.T) {
	systemctl, err := exec.LookPath("systemctl")
	if err != nil {
		t.Skip("no systemctl here: what is enabled is held against the cases above only")
	}
	dir := plant(t, system)
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc/systemd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, filepath.Join(root, "etc/systemd/system")); err != nil {
		t.Fatal(err)
	}
	units := unitsOf(t, []string{filepath.Join(root, "etc/systemd/system")}, "mariadb", "app", "late", "off", "masked")
	for name, u := range units {
		out, _ := exec.CommandContext(t.Context(), systemctl, "--root="+root, "is-enabled", u.Name).Output() // the exit status repeats the output
		want := "enabled"
		switch {
		case u.Masked != "":
			want = "masked"
		case len(u.Boot) == 0:
			want = "disabled"
		}
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: systemctl says %q, the facts %q", name, got, want)
		}
	}
	if len(units) != 5 {
		t.Errorf("%d units", len(units))
	}
}

// TestAgainstVerify compares the skipped lines with those that the real systemd
// reports as ignored.
func TestAgainstVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here: what is passed over is held against the cases above only")
	}
	const text = "[Unit]\nDescription=x\n[Service]\nStartLimitIntervalSec=0\nStartLimitInterval=0\nRestart=always\nRestart=\nRestartSec=\nStartLimitBurst=\nType=\nno assignment\nExecStart=/bin/true \\\n# no = and no end \\\n a=b\n"
	dir := plant(t, map[string]string{"odd.service": text})
	out, _ := exec.CommandContext(t.Context(), analyze, "verify", filepath.Join(dir, "odd.service")).CombinedOutput() // the exit status differs by version
	var passed []string
	for line := range strings.Lines(string(out)) {
		if _, rest, ok := strings.Cut(line, "odd.service:"); ok {
			n, _, _ := strings.Cut(rest, ":")
			passed = append(passed, n)
		}
	}
	// Systemd's messages about empty values may differ by version.
	if !slices.Contains(passed, "4") || !slices.Contains(passed, "11") || slices.Contains(passed, "12") || slices.Contains(passed, "14") {
		t.Errorf("systemd passes over lines %v:\n%s", passed, out)
	}
	if got, want := printed(effective(ParseUnit("f", text))), "2 Unit.Description=x\n4 Service.StartLimitIntervalSec=0\n5 Service.StartLimitInterval=0\n6 Service.Restart=always\n12 Service.ExecStart=/bin/true   a=b\n"; got != want {
		t.Errorf("%swant:\n%s", got, want)
	}
}

func TestLongestStart(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-21  9:59:58 0 [Note] Starting MariaDB 10.11.19-MariaDB source revision 0a1b as process 77\n2026-11-21 10:00:05 0 [Note] /usr/sbin/mariadbd: ready for connections.\n" +
			"2026-11-21 11:00:00 0 [Note] Starting MariaDB 10.11.19-MariaDB source revision 0a1b as process 78\n2026-11-21 11:00:01 0 [Note] mariadbd: ready for connections.\n": "8s",
		"2026-11-21T06:00:00.250000Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.0.36) starting as process 9\n2026-11-21T06:00:01.000000Z 0 [System] [MY-011323] [Server] X Plugin ready for connections. Bind-address: '::'\n" +
			"2026-11-21T06:00:01.500000Z 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.0.36'\n": "1.25s",
		"2026-11-21 10:00:05 0 [Note] mariadbd: ready for connections.\n": "",
		"yesterday mysqld starting as process 9\nready for connections":   "",
	} {
		got := ""
		if took, ok := longestStart(text); ok {
			got = took.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestReadyFacts reads the log of a real server.
func TestReadyFacts(t *testing.T) {
	log := filepath.Join(t.TempDir(), "error.log")
	srv, err := factstest.Start(t.Context(), "", "--log-error="+log)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	fs := ReadyFacts(host.Local{}, iikanji.Target{Services: []iikanji.Service{{Name: "db", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Logs: []iikanji.Log{{Kind: "slow", Path: log}, {Kind: "error", Path: log}}}, {Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}}})
	if len(fs) != 1 || fs[0].Target != "db" {
		text, _ := os.ReadFile(log)
		t.Fatalf("%v of\n%s", fs, text)
	}
	var took float64
	value(t, fs, string(fact.TopicReady), "seconds", &took)
	if took < 1 || took > 600 { // whole seconds, plus one for rounding
		t.Errorf("%v s", took)
	}
}
