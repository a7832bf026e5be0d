package lead

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
)

// awayContest is not local.
const awayContest = `name = "Away"
[[rounds]]
id = "day"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
[rounds.rules]
hosts = 2
[problem.p]
command = ["true"]
load = "10s"
[targets]
allow = ["10.20.0.0/16"]
ports = [80, 443]
`

// away adds the contest that is not local, with two teams.
func (h *hall) away() (first, second string) {
	h.t.Helper()
	_, err := h.AddContest(h.t.Context(), []byte(awayContest), "away.toml")
	h.check(err)
	h.check(h.Move(h.t.Context(), "o", "away_day", "ready"))
	first, err = h.AddTeam(h.t.Context(), NewTeam{Contest: "away", Name: "first"})
	h.check(err)
	second, err = h.AddTeam(h.t.Context(), NewTeam{Contest: "away", Name: "second"})
	h.check(err)
	return first, second
}

func (h *hall) register(team, name, address string) (*api.MadeHost, error) {
	return h.RegisterHost(h.t.Context(), "u", "away_day", api.NewHost{Team: team, Name: name, Address: address})
}

func (h *hall) hostsOf(team string) []api.Host {
	h.t.Helper()
	all, err := h.Hosts(h.t.Context(), "away_day", team)
	h.check(err)
	return all
}

// code is the code of a refusal.
func code(err error) string {
	if r, ok := err.(*api.RefusedError); ok { //nolint:errorlint // the acts return it as it is
		return r.Code
	}
	return ""
}

// TestHosts: a registered machine is loaded only after a worker had the right answer from its
// address; a wrong answer takes the proof away.
func TestHosts(t *testing.T) { hostsOn(t, newHall) }

func hostsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 0)
	team, other := h.away()
	made, err := h.register(team, "s1", "http://10.20.0.3")
	h.check(err)
	for address, want := range map[string]string{"http://10.20.0.3:443": "taken", "http://127.0.0.1": "target", "http://10.20.0.4:22": "target", "http://169.254.169.254": "target"} {
		if _, err := h.register(other, "x", address); code(err) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	run := func() error {
		_, err := h.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "away_day", Team: team})
		return err
	}
	if err := run(); code(err) != "no-host" {
		t.Errorf("a run on a host that is not proven: %v", err)
	}
	beat := api.HostBeat{Token: made.Token, Port: 8790, Boot: "b1", Keys: []string{"ssh-ed25519 AAAA"}, Facts: api.HostFacts{Name: "s1\x1b[31m", CPU: 2}}
	if _, err := h.HostBeat(t.Context(), beat, netip.MustParseAddr("10.20.0.9")); code(err) != "address" {
		t.Errorf("a beat from another address: %v", err)
	}
	stolen := beat
	stolen.Token = made.Host
	if _, err := h.HostBeat(t.Context(), stolen, netip.MustParseAddr("10.20.0.3")); err == nil {
		t.Error("a beat without the token")
	}
	if _, err := h.HostBeat(t.Context(), beat, netip.MustParseAddr("10.20.0.3")); err != nil {
		t.Fatal(err)
	}
	due, err := h.DueHosts(t.Context())
	h.check(err)
	if len(due) != 1 || due[0].Way != api.ByAgent || due[0].Agent != "http://10.20.0.3:8790" || due[0].Want != api.HostAnswer(Digest(made.Token), due[0].Nonce) || due[0].Local {
		t.Fatalf("due: %+v", due)
	}
	if again, err := h.DueHosts(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("another worker checks the same hosts: %+v, %v", again, err)
	}
	h.check(h.Checked(t.Context(), []api.HostResult{{Host: made.Host, Proven: true, Boot: "b1", Offset: time.Second}, {Host: "none", Proven: true}}))
	if got := h.hostsOf(team)[0]; !got.Proven || got.Boot != "b1" || got.Offset != time.Second || got.Problem != "" || got.Facts.Name != "s1·[31m" {
		t.Errorf("%+v, %q", got, got.Facts.Name)
	}
	h.check(run())
	h.at = h.at.Add(2 * time.Minute)
	if got := h.hostsOf(team)[0]; got.Problem != "its agent is silent" {
		t.Errorf("after two minutes: %+v", got)
	}
	beat.Keys = []string{"ssh-ed25519 BBBB"}
	if answer, err := h.HostBeat(t.Context(), beat, netip.MustParseAddr("10.20.0.3")); err != nil || !strings.Contains(answer.Problem, "host keys have changed") {
		t.Errorf("other keys: %+v, %v", answer, err)
	}
	h.check(h.Checked(t.Context(), []api.HostResult{{Host: made.Host, Stranger: true, Problem: "another one"}}))
	if got := h.hostsOf(team)[0]; got.Proven || !strings.Contains(got.Problem, "host keys") || got.Keys[0] != "ssh-ed25519 AAAA" {
		t.Errorf("a stranger: %+v", got)
	}
}

// TestHostWays: a site may prove its host by a text, the number of hosts is limited, and the name of
// a host with another address makes another token.
func TestHostWays(t *testing.T) { hostWaysOn(t, newHall) }

func hostWaysOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 0)
	team, _ := h.away()
	made, err := h.register(team, "s1", "http://10.20.0.3")
	h.check(err)
	due, err := h.DueHosts(t.Context())
	h.check(err)
	if len(due) != 1 || due[0].Way != api.ByPath || due[0].Want != made.Text || made.Text == made.Token {
		t.Errorf("due: %+v of %+v", due, made)
	}
	h.check(h.Checked(t.Context(), []api.HostResult{{Host: made.Host, Proven: true}}))
	again, err := h.register(team, "s1", "http://10.20.0.4")
	h.check(err)
	if all := h.hostsOf(team); again.Host != made.Host || again.Token == made.Token || len(all) != 1 || all[0].Proven || all[0].Address != "http://10.20.0.4" {
		t.Errorf("%+v, %+v", again, all)
	}
	_, err = h.register(team, "s2", "http://10.20.0.5")
	h.check(err)
	if _, err := h.register(team, "s3", "http://10.20.0.6"); code(err) != "hosts" {
		t.Errorf("a third host: %v", err)
	}
	if err := h.DropHost(t.Context(), "u", "another team", made.Host); err == nil {
		t.Error("another team removed it")
	}
	h.check(h.DropHost(t.Context(), "u", team, made.Host))
	if all := h.hostsOf(team); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

// TestForeignJobs: a command of a contest that is not local goes to workers with a sandbox alone,
// with the check of its host and the ports that it may reach; a refusal of the host is not charged.
func TestForeignJobs(t *testing.T) { foreignJobsOn(t, newHall) }

func foreignJobsOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 0)
	team, _ := h.away()
	made, err := h.register(team, "s1", "http://10.20.0.3")
	h.check(err)
	h.check(h.Checked(t.Context(), []api.HostResult{{Host: made.Host, Proven: true}}))
	enqueue := func() string {
		j, err := h.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "away_day", Team: team})
		h.check(err)
		return j.ID
	}
	id := enqueue()
	claim := func(kinds ...string) *api.Assignment {
		h.check(h.Waits(t.Context(), "w1", kinds, 1))
		h.check(h.leader.Tick(t.Context(), true))
		for _, kind := range kinds {
			m, err := h.carry.Take(t.Context(), carry.Tasks, TaskSubject(kind), 0)
			h.check(err)
			if m == nil {
				continue
			}
			h.check(m.Ack(t.Context()))
			a, err := h.Claim(t.Context(), m.Data, "w1")
			h.check(err)
			return a
		}
		return nil
	}
	if a := claim("arena", "command"); a != nil {
		t.Fatalf("a worker without a sandbox got %+v", a)
	}
	a := claim("arena", "command", "confined")
	if a == nil || a.Local || len(a.Ports) != 2 || a.Check == nil || a.Check.Way != api.ByPath || a.Check.Target != "http://10.20.0.3" {
		t.Fatalf("the job is %+v", a)
	}
	c := api.Claimed{Worker: "w1", Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
	h.beat(c)
	h.finish(c, api.Report{Refused: "host s1: no answer"})
	if j := h.job(id); j.State != api.Cancelled || !strings.Contains(j.Text, "not charged") || j.Result != nil {
		t.Errorf("refused: %+v", j)
	}
	id = enqueue()
	h.check(h.DropHost(t.Context(), "u", team, made.Host))
	if a := claim("confined"); a != nil {
		t.Errorf("a job of a host that is gone: %+v", a)
	}
	if j := h.job(id); j.State != api.Cancelled || !strings.Contains(j.Text, "removed") {
		t.Errorf("%+v", j)
	}
}
