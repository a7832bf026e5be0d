package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/ladder"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// hostsLadders are the ladders for several machines, by arena.
func hostsLadders(t *testing.T) map[string][]ladder.Rung {
	t.Helper()
	all := map[string][]ladder.Rung{}
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		if a.HostsLadder == nil {
			continue
		}
		rungs, err := ladder.Read(a.HostsLadder)
		if err != nil || len(rungs) == 0 {
			t.Fatalf("%s: %d rungs, %v", name, len(rungs), err)
		}
		all[name] = rungs
	}
	if len(all) == 0 {
		t.Fatal("no arena has rows for several machines")
	}
	return all
}

// TestHostsLaddersRead: each row for several machines says how many it needs, not fewer than the
// one before, on an arena that can be put onto machines; --hosts chooses the rows that fit.
func TestHostsLaddersRead(t *testing.T) {
	for name, rungs := range hostsLadders(t) {
		a, _ := arena.Find(name)
		full, err := a.Complete()
		if err == nil {
			err = practice.Check(full)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		most := 1
		for _, r := range rungs {
			if r.Hosts < most {
				t.Errorf("%s of %s needs %d machines, after a row of %d", r.File, name, r.Hosts, most)
			}
			most = max(most, r.Hosts)
		}
		alone := 0 // rows that one machine is enough for
		for alone < len(rungs) && rungs[alone].Hosts == 1 {
			alone++
		}
		for _, x := range []struct{ hosts, want int }{{1, alone}, {most, len(rungs)}, {8, len(rungs)}} {
			hosts, want := x.hosts, x.want
			c := &ladderCmd{Target: name, From: 1}
			c.Hosts = hosts
			got, err := c.rungs()
			if len(got) != want || (err == nil) != (want > 0) {
				t.Errorf("%s with %d machines: %d rows, %v", name, hosts, len(got), err)
			}
		}
	}
	bad := &ladderCmd{Target: "isucondition", From: 1, Pairs: 1, Load: 3 * time.Second, Full: 3 * time.Second}
	bad.Hosts = 2
	if err := bad.Run(t.Context(), &env{Stderr: io.Discard, Stdout: io.Discard}); err == nil || !strings.Contains(err.Error(), "--pairs 1") {
		t.Errorf("machines were made: %v", err)
	}
	c := &ladderCmd{Target: "isublog", From: 1}
	if c.Hosts = 3; true {
		if _, err := c.rungs(); err == nil {
			t.Error("isublog has rows for several machines")
		}
	}
}

// TestHostsLadders climbs the rows for several machines with a short load: each is applied, and
// the runs pass its checks.
func TestHostsLadders(t *testing.T) {
	tier.Long(t, "each arena boots three machines and copies its database")
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	for name, rungs := range hostsLadders(t) {
		t.Run(name, func(t *testing.T) {
			var said lockedBuffer
			args := []string{"ladder", name, "--hosts", fmt.Sprint(rungs[len(rungs)-1].Hosts), "--dir", t.TempDir(), "--load", "3s", "--full", "3s", "--pairs", "2", "--time", "6m", "--noisy", "--json"}
			status, text := command(t.Context(), &said, args...)
			if status != exitDone {
				t.Fatalf("status %d\n%s\n%s", status, text, said.String())
			}
			var done climb
			if err := json.Unmarshal([]byte(text), &done); err != nil || len(done.Rungs) != len(rungs) {
				t.Fatalf("%v\n%s", err, text)
			}
			for _, r := range done.Rungs {
				a := r.Climbed.Attempt
				t.Logf("%s: %s%s", r.Row, r.measured(), r.verdict())
				if a.Skipped != "" || a.Verdict.Why != "" && !r.Climbed.Stays && len(r.Climbed.Attempt.Verdict.Tried) == 0 {
					t.Errorf("%s: not climbed: %s %s", r.File, a.Skipped, a.Verdict.Why)
				}
			}
		})
	}
}

// TestMachinesThatEnd: after a command on machines of its own, what is printed names a command that
// makes new ones, and none that needs those that are gone.
func TestMachinesThatEnd(t *testing.T) {
	if one := (hostsFlags{Hosts: 1, Of: 3}).made("tune", "isuumo"); one.again != "iikanji tune isuumo --hosts 1 --of 3" {
		t.Errorf("%+v", one)
	}
	made := hostsFlags{Hosts: 3, Sizes: []int{1, 1, 2}}.made("tune", "isucondition")
	if made.Hosts != 0 || made.again != "iikanji tune isucondition --hosts 3 --sizes 1,1,2" {
		t.Errorf("%+v", made)
	}
	var out bytes.Buffer
	c := &tuneCmd{Target: "/site", Time: time.Minute, hostsFlags: made}
	if err := c.print(&env{Stdout: &out, Cols: 100}, &namedTarget{Name: "/site"}, &tune.Outcome{}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, made.again+" --time 1m0s") || strings.Contains(text, "revert") || !strings.Contains(text, "iikanji history /site") {
		t.Error(text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.ended(ctx, context.Canceled, &namedTarget{Name: "/site"})
	var e *exitError
	if !errors.As(err, &e) || !strings.Contains(strings.Join(e.Hints, " "), made.again) {
		t.Errorf("%+v", err)
	}
}
