package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
)

// arenasContest is a contest with one arena. Of this machine only the ports of the arena's web
// server may be reached.
const arenasContest = `name = "Arenas"
local = true
[targets]
ports = [%s]
[[rounds]]
id = "day"
kind = "open"
problem = "p"
[problem.p]
arena = "%s"
load = "2s"
timeout = "150s"
callbacks = [%d]
[problem.p.set]
%s
`

// TestArenasConfined runs arenas as jobs of a portal: the benchmarker is a child of the worker in a
// sandbox, which reaches the site alone and takes the app's connections at one port. The portal has
// the outcome, the score, the points and the growth of the child.
func TestArenasConfined(t *testing.T) {
	tier.Long(t, "three arenas with their servers take minutes; TestConfinedArena has the sandbox, and TestPractice an arena without one")
	tier.Needs(t, "a sandbox", sandbox.Missing())
	for arena, set := range map[string]string{"isucondition": `jia = "{callback}"`, "xsuportal": `push-listen = "{callback}"`, "isuxi": ""} {
		t.Run(arena, func(t *testing.T) { arenaConfined(t, arena, set) })
	}
}

func arenaConfined(t *testing.T, name, set string) {
	a, err := findArena(name)
	if err != nil {
		t.Fatal(err)
	}
	x := newExamples(t)
	t.Cleanup(func() {
		for _, end := range x.ends {
			end()
		}
	})
	s, err := stack.Up(t.Context(), a, stack.Options{Dir: filepath.Join(x.dir, "site")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	site, entry := s.Places().URL(), s.Places().Service(s.Places().Entry)
	ports := []string{strconv.Itoa(entry.Port)}
	for _, port := range entry.Ports { // as for gRPC
		ports = append(ports, strconv.Itoa(port))
	}
	x.write("cup.toml", fmt.Sprintf(arenasContest, strings.Join(ports, ", "), name, freePort(t), set))
	if r, passed := x.cupRun(site, "--confined"); passed && !strings.Contains(r.Log, "score "+scoreText(r.Score)) {
		t.Errorf("the child itself did not print the score %s:\n%s", scoreText(r.Score), r.Log)
	}
}

// cupRun makes a portal of cup.toml, a team with a site, and a worker. It waits for the result of a
// run of the round cup_day, which has passed with a score, or is void: on a busy machine the load
// generator is the limit in each of three attempts.
func (x *examples) cupRun(site, workerFlags string) (r *api.Result, passed bool) {
	x.t.Helper()
	x.shell("iikanji portal contest new cup.toml")
	portal := x.portalUp(filepath.Join(x.dir, "state", "iikanji", "portal"))
	x.shell(`iikanji portal team one --contest cup --url ` + site + ` --json | sed -n 's/.*"token": "\(.*\)".*/\1/p' > team.token`)
	x.background("iikanji portal worker " + workerFlags + " --portal " + portal + " --token-file worker.token --dir w")
	x.shell("iikanji portal job enqueue cup_day --wait --json --token-file team.token > job.json || test -s job.json")
	var j api.Job
	text, err := os.ReadFile(filepath.Join(x.dir, "job.json"))
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	if j.State != api.Done || j.Result == nil {
		x.t.Fatalf("the run is %s: %s", j.State, j.Text)
	}
	r = j.Result
	x.t.Logf("%s %.0f, %d faults", r.Outcome, r.Score, len(r.Faults))
	passed = r.Outcome == iikanji.Passed && r.Score > 0
	if !passed && r.Outcome != iikanji.Void || len(r.Points) == 0 {
		x.t.Errorf("the result is %+v", r)
	}
	return r, passed
}

// freePort is a port at which nothing listens now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
