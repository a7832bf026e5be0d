package cause_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// sound is a folder of units that come back after a reboot: a database that notifies
// systemd when it is ready, an app that waits for it, a web server that needs neither.
var sound = map[string]string{
	"db.service":                            "[Service]\nType=notify\nExecStart=/usr/sbin/mariadbd\n[Install]\nWantedBy=multi-user.target\n",
	"app.service":                           "[Unit]\nAfter=network.target db.service\nWants=db.service\n[Service]\nExecStart=/home/app/run\nRestart=always\n[Install]\nWantedBy=multi-user.target\n",
	"nginx.service":                         "[Service]\nType=forking\nExecStart=/usr/sbin/nginx\n[Install]\nWantedBy=multi-user.target\n",
	"multi-user.target.wants/db.service":    "-> ../db.service",
	"multi-user.target.wants/app.service":   "-> ../app.service",
	"multi-user.target.wants/nginx.service": "-> ../nginx.service",
}

// plantUnits writes the sound units with some files replaced: "-> x" is a link to x,
// "" removes the file.
func plantUnits(t *testing.T, instead map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "system")
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o644)
		if to, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
			if err = os.Remove(path); err == nil {
				err = os.Symlink(to, path)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range sound {
		if _, other := instead[name]; !other {
			write(name, text)
		}
	}
	for name, text := range instead {
		if text != "" {
			write(name, text)
		}
	}
	return dir
}

// unitsSeen is a scene of services run by such units. The app is connected to the
// database, which took some seconds to start; "" if this is unknown.
func unitsSeen(t *testing.T, dir, seconds string) *scene {
	t.Helper()
	known, err := facts.UnitFacts(host.Local{}, iikanji.Target{Name: "site", UnitFolders: []string{dir}, Services: []iikanji.Service{
		{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Unit: "db"}, {Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Unit: "app.service"}, {Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Unit: "nginx"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := newScene().with("app", string(fact.TopicConnection), "database", fact.Connections{Unix: 12})
	s.Facts = append(s.Facts, known...)
	if seconds != "" {
		s.with("database", string(fact.TopicReady), "seconds", seconds)
	}
	return s
}

// app is the unit of an app that waits for no other service.
func app(unit, service string) map[string]string {
	return map[string]string{"app.service": "[Unit]\nAfter=network.target\n" + unit + "[Service]\nExecStart=/home/app/run\n" + service + "[Install]\nWantedBy=multi-user.target\n"}
}

func also(files map[string]string, name, text string) map[string]string {
	files[name] = text
	return files
}

// TestOS106 plants one fault at a time. Each want lists words of the claim, of the
// evidence and of the remedy; an empty list means no finding.
func TestOS106(t *testing.T) {
	const gone = "multi-user.target.wants/app.service"
	for _, c := range []struct {
		name    string
		instead map[string]string
		seconds string
		want    []string
	}{
		{"sound", nil, "9", nil},
		{"masked", map[string]string{"nginx.service": "-> /dev/null"}, "", []string{"nginx.service may be down after a reboot: it is masked", "nginx.service is empty or a link to /dev/null", "systemctl unmask nginx.service"}},
		{"not enabled", map[string]string{gone: ""}, "", []string{"no unit of the boot starts it", "WantedBy=multi-user.target (DIR/app.service:8)", "systemctl enable app.service"}},
		{"enabled for no target", map[string]string{gone: "", "none.target.wants/app.service": "-> ../app.service"}, "", []string{"no unit of the boot starts it", "no chain of links leads to it", "WantedBy= to a target that the boot reaches"}},
		{"cannot be enabled", map[string]string{gone: "", "app.service": "[Unit]\nAfter=db.service\n[Service]\nExecStart=/home/app/run\n"}, "", []string{"no unit of the boot starts it", "no WantedBy= in its section [Install]", "add the lines [Install] and WantedBy=multi-user.target"}},
		{"wanted by another unit", map[string]string{gone: "", "nginx.service": sound["nginx.service"] + "[Unit]\nWants=app.service\n"}, "", nil},
		{"no order and no restart", app("", ""), "", []string{"it may start before db.service is ready, and is not restarted if it then exits", "app had 12 connections to database", "After=network.target (DIR/app.service:2)", "Restart=no (systemd's default)", "[Unit] After=db.service, Wants=db.service"}},
		{"restart for other ends", app("", "Restart=on-abort\n"), "", []string{"not restarted", "Restart=on-abort (DIR/app.service:5)"}},
		{"an unknown word", app("", "Restart=on-failure\nRestart=ever\n"), "0.3", nil},
		{"no order and a limit", app("", "Restart=always\n"), "5", []string{"gives up after 5 starts in 0.4 s, but that takes 5.0 s", "Restart=always (DIR/app.service:5)", "RestartSec=100ms (systemd's default)", "StartLimitIntervalSec=10s (systemd's default)", "StartLimitBurst=5 (systemd's default)", "database took up to 5.0 s", "StartLimitIntervalSec=0"}},
		{"unknown start time", app("", "Restart=always\n"), "", []string{"gives up after 5 starts in 0.4 s, and the time until it is ready is unknown", "is unknown; 5 s are assumed"}},
		{"faster than the limit", app("", "Restart=always\n"), "0.3", nil},
		{"no limit", app("StartLimitIntervalSec=0\n", "Restart=always\n"), "60", nil},
		{"no limit by the number", app("StartLimitBurst=0\n", "Restart=on-failure\n"), "60", nil},
		{"slower than the limit", app("", "Restart=always\nRestartSec=2100ms\n"), "60", nil},
		{"as slow as the limit", app("", "Restart=always\nRestartSec=2\n"), "60", []string{"gives up after 5 starts in 8.0 s"}},
		{"long enough", app("StartLimitIntervalSec=2min\nStartLimitBurst=30\n", "Restart=always\nRestartSec=1s\n"), "28", nil},
		{"not long enough", app("StartLimitIntervalSec=2min\nStartLimitBurst=30\n", "Restart=always\nRestartSec=1s\n"), "30", []string{"gives up after 30 starts in 29.0 s"}},
		{"slower each time", app("StartLimitIntervalSec=1min\n", "Restart=always\nRestartSec=1\nRestartSteps=2\nRestartMaxDelaySec=16\n"), "60", []string{"gives up after 5 starts in 37.0 s"}},
		{"at once", app("StartLimitIntervalSec=1\n", "Restart=always\nRestartSec=0\n"), "1", []string{"gives up after 5 starts in 0.0 s"}},
		{"never again", app("", "Restart=always\nRestartSec=infinity\n"), "1", []string{"is not restarted", "RestartSec=infinity"}},
		{"the limit in the wrong section", app("", "Restart=always\nStartLimitIntervalSec=0\n"), "5", []string{"gives up after 5 starts", "StartLimitIntervalSec=0 (DIR/app.service:6) stands in [Service]"}},
		{"the old name in that section", app("", "Restart=always\nStartLimitInterval=0\n"), "5", nil},
		{"systemd's own limit", also(app("", "Restart=always\n"), "../system.conf", "[Manager]\nDefaultStartLimitIntervalSec=0\n"), "5", nil},
		{"the unit's before systemd's own", also(app("StartLimitIntervalSec=20\n", "Restart=always\n"), "../system.conf", "[Manager]\nDefaultStartLimitIntervalSec=0\n"), "5", []string{"StartLimitIntervalSec=20 (DIR/app.service:3)"}},
		{"a drop-in mends the order", also(app("", ""), "app.service.d/order.conf", "[Unit]\nAfter=db.service\n"), "", nil},
		{"a drop-in mends the limit", also(app("", "Restart=always\n"), "app.service.d/limit.conf", "[Unit]\nStartLimitIntervalSec=0\n"), "5", nil},
		{"the database's word mends it", also(app("", ""), "db.service.d/order.conf", "[Unit]\nBefore=app.service\n"), "", nil},
		{"after its process only", map[string]string{"db.service": "[Service]\nExecStart=/usr/sbin/mariadbd\n[Install]\nWantedBy=multi-user.target\n"}, "9", []string{"gives up after", "it is started after db.service (app.service → db.service), but with Type=simple (systemd's default) that means when its process exists", "in app.service: [Unit] StartLimitIntervalSec=0; [Service] Restart=always"}},
		{"it waits itself", app("", "ExecStartPre=/usr/bin/wait-for-it db:3306\n"), "", nil},
		{"two hazards", also(app("", ""), gone, ""), "", []string{"no unit of the boot starts it; and it may start before db.service is ready"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := plantUnits(t, c.instead)
			fs, err := findAll(unitsSeen(t, dir, c.seconds).Input)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(whole(fs), dir, "DIR")
			if len(c.want) == 0 && len(fs) > 0 || len(c.want) > 0 && (len(fs) != 1 || fs[0].Code != "OS106" || fs[0].Gain.Hi != 0) {
				t.Fatalf("%d findings:\n%s", len(fs), text)
			}
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		})
	}
}

// whole prints findings with their evidence.
func whole(fs []iikanji.Finding) string {
	var sb strings.Builder
	for _, f := range fs {
		sb.WriteString(formatted([]iikanji.Finding{f}))
		for _, e := range f.Evidence {
			sb.WriteString("  " + e.Source + ": " + e.Text + "\n")
		}
	}
	return sb.String()
}

// TestOS106Unconnected checks that the order is not reported without a connection
// between the services, or without the other service.
func TestOS106Unconnected(t *testing.T) {
	s := unitsSeen(t, plantUnits(t, app("", "")), "")
	s.Facts = s.Facts[1:]
	if fs, err := findAll(s.Input); err != nil || len(fs) > 0 {
		t.Errorf("%v, %v", fs, err)
	}
	fs, err := findAll(unitsSeen(t, plantUnits(t, also(app("", ""), "multi-user.target.wants/db.service", "")), "").Input)
	if err != nil || len(fs) != 1 || fs[0].Where != "db.service" {
		t.Errorf("%v, %v", fs, err)
	}
}

// TestOS106Rank checks that the finding ranks below the smallest gain.
func TestOS106Rank(t *testing.T) {
	s := unitsSeen(t, plantUnits(t, map[string]string{"nginx.service": "-> /dev/null"}), "")
	s.host(iikanji.MachineRow{Steal: 2 * time.Second}, nil)
	fs, err := findAll(s.Input)
	if err != nil || len(fs) != 2 || fs[0].Code != "OS104" || fs[1].Code != "OS106" {
		t.Errorf("%v, %v", fs, err)
	}
}
