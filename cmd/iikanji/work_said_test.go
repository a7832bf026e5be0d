package main

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestSaidOfRun: bench tells what the benchmarker said of its load, and a machine that is full
// beside an idle one; of a run that shows neither it tells nothing.
func TestSaidOfRun(t *testing.T) {
	services := []iikanji.Service{{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Host: "web"},
		{Name: "mariadb", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web", Unit: "mariadb.service", Spare: []string{"db"}}}
	usage := func(web float64) (all []iikanji.Usage) {
		for _, u := range []iikanji.Usage{{Who: "nginx", Host: "web", Share: web / 2}, {Who: "mariadb", Host: "web", Share: web / 2}, {Who: "other", Host: "db", Share: 0.02}} {
			u.User = time.Duration(20 * u.Share * float64(time.Second))
			all = append(all, u)
		}
		return all
	}
	machine := &iikanji.Machine{Cores: 2}
	run := func(web float64, said ...iikanji.Message) *iikanji.Run {
		return &iikanji.Run{Took: 10 * time.Second, Place: iikanji.Placement{Cores: 8}, Usage: usage(web), Messages: said,
			Hosts: []iikanji.RunHost{{Name: "web", Machine: machine}, {Name: "db", Machine: machine}}}
	}
	stays := iikanji.Message{Text: "users did not increase", Means: iikanji.MeansNoGrowth, Count: 3, Route: "GET /api/trend"}
	for name, c := range map[string]struct {
		run  *iikanji.Run
		want []string
	}{
		"nothing":            {run(0.3), nil},
		"no growth":          {run(0.3, stays), []string{`"users did not increase" ×3; it names GET /api/trend (BEN104)`}},
		"one full":           {run(0.98), []string{"(TOP101)"}},
		"full, and it stays": {run(0.98, stays), []string{"(BEN104)", "(TOP101)"}},
	} {
		got := saidOf(c.run, iikanji.Target{Services: services}, nil)
		text := strings.Join(got, "\n")
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in %q", name, w, text)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
