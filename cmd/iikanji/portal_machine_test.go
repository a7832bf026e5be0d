package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
)

// machineContest is a contest whose teams have machines of their own, and whose benchmarker runs
// elsewhere.
const machineContest = `name = "Company cup"
[targets]
allow = ["198.18.0.0/15"]
ports = [80]
[[rounds]]
id = "day"
kind = "open"
problem = "p"
[problem.p]
arena = "isucondition"
load = "3s"
timeout = "150s"
callbacks = [%d]
set.jia = "{callback}"
`

// TestPortalMachine goes the way of a company: the arena is put onto a machine of a team by its
// archive, the portal and its worker are on another one, the contest is not local, and the
// benchmarker is in its sandbox, which takes the app's connections at one port.
func TestPortalMachine(t *testing.T) {
	tier.Long(t, "a machine with MariaDB, its data and an app takes most of a minute")
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	tier.Needs(t, "a sandbox", sandbox.Missing())
	x := newExamples(t)
	t.Cleanup(func() {
		for _, end := range x.ends {
			end()
		}
	})
	x.shell("iikanji arena machine isucondition machine.tar.gz")
	m := teamMachine(t, filepath.Join(x.dir, "machine.tar.gz"))
	x.write("cup.toml", fmt.Sprintf(machineContest, freePort(t)))
	x.cupRun("http://"+m.Address().String(), "")
}

// teamMachine boots a machine and makes it one of the arena, as its archive says.
func teamMachine(t *testing.T, archive string) *lab.Machine {
	t.Helper()
	ctx := t.Context()
	dir, err := os.MkdirTemp("/var/tmp", "iikanji-team-") // not below /tmp: a machine has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	link, err := lab.NewLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	})
	m, err := lab.New(filepath.Join(dir, "m"), "team1", "nginx", "mariadb")
	if err == nil {
		m.Join(link, 11)
		err = errors.Join(os.Chmod(dir, 0o755), m.SSHD(ctx, lab.Account{Name: "isucon", UID: 61000}), m.Database())
	}
	if err != nil {
		tier.Needs(t, "Debian's openssh-server, nginx and MariaDB", err.Error())
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	data, err := os.ReadFile(archive)
	if err == nil {
		err = m.Write("/srv/machine.tar.gz", string(data), 0o644)
	}
	if err == nil {
		err = m.Boot(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tar", "-C", "/", "-xzf", "/srv/machine.tar.gz"}, {"sh", practice.SetupPath, m.Address().String()}} {
		r, err := m.Run(ctx, args...)
		if err != nil || r.Status != 0 {
			t.Fatalf("%s: status %d, %v\n%.3000s", strings.Join(args, " "), r.Status, err, r.Output)
		}
	}
	return m
}
