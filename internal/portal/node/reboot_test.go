package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/final"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
)

const rebootContest = `name = "Final"
[[rounds]]
id = "day"
start = %s
hours = 8
problem = "p"
[rounds.final]
reboot = true
back_in = "5m"
runs = 2
pass = 1
[problem.p]
command = ["%s", "` + finalBenchRole + `", "/nowhere"]
report = "lines"
load = "1s"
timeout = "5m"
[targets]
allow = ["198.18.0.0/15"]
ports = [80]
`

// hostUnit starts the site and the agent of a machine.
const hostUnit = `[Service]
ExecStart=/usr/local/bin/host ` + hostRole + ` /srv/host http://%s 0.0.0.0:80
Restart=always
[Install]
WantedBy=multi-user.target
`

// TestReboot judges a team whose host is a machine of its own: a foreign benchmarker in its sandbox
// loads it, it is rebooted through SSH with the key that it pinned, comes back with another boot
// id, and has what the runs wrote. A machine with another key is not logged in to.
func TestReboot(t *testing.T) {
	tier.Slow(t)
	t.Parallel() // it waits most of the time
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	tier.Needs(t, "a sandbox", sandbox.Missing())
	link, err := lab.NewLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	})
	s := newSystemAt(t, link.Address(1).String(), 0, 0)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Appendf(nil, rebootContest, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), program)
	if _, err := s.core.AddContest(t.Context(), text, "final.toml"); err != nil {
		t.Fatal(err)
	}
	if err := s.core.Move(t.Context(), "o", finalRound, contest.Ready); err != nil {
		t.Fatal(err)
	}
	team, err := s.core.AddTeam(t.Context(), lead.NewTeam{Contest: "final", Name: "team"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.core.RegisterHost(t.Context(), "u", finalRound, api.NewHost{Team: team, Name: "s1", Address: "http://" + link.Address(11).String()})
	if err != nil {
		t.Fatal(err)
	}
	m, signer := s.bootMachine(link, made.Token)
	s.startWorker("w0")
	s.until("the machine is proven", func() bool {
		all, err := s.core.Hosts(t.Context(), finalRound, team)
		return err == nil && len(all) == 1 && all[0].Proven && all[0].Problem == "" && len(all[0].Keys) == 2
	})
	s.contestDay(map[string]*machine{"team": {team: team}})
	if _, err := s.core.PlanFinal(t.Context(), "o", finalRound, api.PlanFinal{Apply: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.core.Move(t.Context(), "o", finalRound, contest.Judging); err != nil {
		t.Fatal(err)
	}
	bySSH, reboots := final.RebootBySSH("isucon", signer, 22, "sudo -n systemctl reboot"), 0
	d := &final.Driver{Portal: judged{s}, Poll: 200 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Now: time.Now, Persist: final.PersistBy([]string{program, persistRole}),
		Reboot: func(ctx context.Context, h api.Host) error {
			swapped := h
			swapped.Keys = []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
			if err := bySSH(ctx, swapped); err == nil || !strings.Contains(err.Error(), "not one that the machine had") {
				t.Errorf("with another pinned key: %v", err)
			}
			reboots++
			return errors.Join(bySSH(ctx, h), m.Again(ctx))
		}}
	f, err := d.Run(t.Context())
	if err != nil {
		s.logs()
		t.Fatal(err)
	}
	if got := f.Teams[0]; !got.Verdict.Passed || got.Verdict.Score != 700 || reboots != 2 || len(got.Runs) != 2 {
		s.logs()
		t.Errorf("%d reboots, %+v\n%+v\n%+v", reboots, got.Verdict, got.Steps, got.Runs)
	}
}

// bootMachine boots the machine of a team at address 11 with its site, its agent and SSH.
func (s *system) bootMachine(link *lab.Link, token string) (*lab.Machine, ssh.Signer) {
	s.t.Helper()
	t := s.t
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(key.Path)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lab.New(t.TempDir(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	m.Join(link, 11)
	if err := m.SSHD(t.Context(), lab.Account{Name: "isucon", UID: 61000, Keys: key.Public, Sudo: true}); err != nil {
		tier.Needs(t, "Debian's openssh-server and sudo", err.Error())
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(m.Install(program, "host"), m.Write("/etc/systemd/system/host.service", fmt.Sprintf(hostUnit, s.address), 0o644), m.Enable("host.service"),
		m.Write("/srv/host/token", token, 0o600), m.Write("/srv/host/score", "700", 0o600), m.Write("/srv/host/data", "0", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m, signer
}
