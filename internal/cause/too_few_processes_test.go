package cause_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// serving is a scene of ten seconds in which an app server used cpu cores, requests
// waited for it for so many seconds together, and cores were idle.
func serving(w fact.Workers, waited, cpu, idle float64) *scene {
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	s := newScene().host(iikanji.MachineRow{Idle: seconds(10 * idle)}, map[string]iikanji.HostRow{"app": {User: seconds(10 * cpu), Processes: w.Processes}})
	s.with("app", string(fact.TopicWorkers), w.Server, w)
	return s.route("GET /", "/", 100, 1000, iikanji.WebRow{Upstream: seconds(waited)})
}

// TestAppServers checks when processes are proposed, how many, and what forbids them.
func TestAppServers(t *testing.T) {
	one := fact.Workers{Server: "gunicorn", Processes: 1, Threads: 1, ProcessesBy: "file", ThreadsBy: "default", Private: 100 << 20, Available: 4 << 30, Memory: 8 << 30}
	with := func(change func(w *fact.Workers)) fact.Workers {
		w := one
		change(&w)
		return w
	}
	for _, c := range []struct {
		name string
		in   *scene
		code iikanji.Code // "": no finding of these codes
		args string       // of the remedies, as "workers=7 threads=4"
	}{
		{"one process, requests wait for the database", serving(one, 80, 0.3, 2), "APP222", "workers=8 threads=4"},
		{"one process, it computes", serving(one, 80, 0.95, 2), "APP222", "workers=7"},
		{"no core is idle", serving(one, 80, 0.9, 0.1), "", ""},
		{"no request waits", serving(one, 9, 0.3, 2), "", ""},
		{"memory for two more", serving(with(func(w *fact.Workers) { w.Available = w.Memory/10 + 2*w.Private + 1 }), 80, 0.95, 2), "APP222", "workers=3"},
		{"connections for three", serving(one, 80, 0.95, 2).with("database", string(fact.TopicVariable), "max_connections", "8"), "APP222", "workers=3"},
		{"sessions in memory", serving(with(func(w *fact.Workers) { w.Sessions = []string{"app.py:3 (sessions)"} }), 80, 0.3, 2), "APP225", ""},
		{"a connection for all threads", serving(with(func(w *fact.Workers) { w.Connections = []string{"app.py:3 (db)"} }), 80, 0.3, 2), "APP222", "workers=8"},
		{"no setting", serving(with(func(w *fact.Workers) { w.ProcessesBy, w.ThreadsBy = "unavailable", "unavailable" }), 80, 0.95, 2), "APP222", ""},
		{"enough threads", serving(with(func(w *fact.Workers) { w.Processes, w.Threads = 2, 5 }), 80, 1, 2), "", ""},
		{"too many processes", serving(with(func(w *fact.Workers) { w.Processes, w.Private = 24, 200<<20 }), 80, 2.9, 0.1), "APP223", "workers=7"},
		{"many small processes", serving(with(func(w *fact.Workers) { w.Processes, w.Private = 24, 10<<20 }), 80, 2.9, 0.1), "", ""},
		{"more threads than connections", serving(with(func(w *fact.Workers) { w.Processes, w.Threads = 40, 5 }), 80, 1, 2).with("database", string(fact.TopicVariable), "max_connections", "151"), "APP224", "max_connections=220"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, err := findAll(c.in.Input)
			if err != nil {
				t.Fatal(err)
			}
			var code iikanji.Code
			var args []string
			for _, f := range fs {
				if f.Code < "APP222" || f.Code > "APP225" {
					continue
				}
				if code != "" {
					t.Errorf("a second finding: %+v", f)
				}
				code = f.Code
				for _, r := range f.Remedies {
					for k, v := range r.Args {
						args = append(args, k+"="+v)
					}
				}
				if f.Code == "APP222" && (f.Gain.Hi <= 0 || f.Gain.Hi > 20) {
					t.Errorf("its gain is %v of 20 idle seconds", f.Gain)
				}
			}
			slices.Sort(args)
			slices.Reverse(args)
			if code != c.code || strings.Join(args, " ") != c.args {
				t.Errorf("%q with %q, want %q with %q", code, args, c.code, c.args)
			}
		})
	}
}

// TestTwoAppsShareTheLoad: with another app that listens, the load of each is unknown.
func TestTwoAppsShareTheLoad(t *testing.T) {
	s := serving(fact.Workers{Server: "puma", Processes: 1, Threads: 1, ProcessesBy: "file", ThreadsBy: "file"}, 80, 0.3, 2)
	s.Target.Services = []iikanji.Service{{Name: "app", Role: iikanji.RoleApp, Address: "127.0.0.1:1"}, {Name: "other", Role: iikanji.RoleApp, Address: "127.0.0.1:2"},
		{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}}
	fs, err := findAll(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if f.Code == "APP222" {
			t.Errorf("found %+v", f)
		}
	}
}
