package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalDoctorCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalDoctorCmd) Help() string {
	return `Asks a portal that is up whether a round can begin: its database and its leader, the
certificate, the state and the start of the round, the workers, what teams lack, notices
that do not arrive, the disk, and the last backup. It changes nothing.

Examples:
  iikanji portal doctor cup_final

Exit status: 0 nothing failed, 1 failed to run, 2 usage, 3 something failed.`
}

// A portalCheck is one answer. State is ok, warning or failed.
type portalCheck struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// A portalState is what a portal tells of itself.
type portalState struct {
	ready       error
	expires     time.Time // of the certificate; zero without
	offset      time.Duration
	round       api.Round
	workers     []api.Worker
	teams       []api.Applied
	undelivered []api.Delivery
	gauges      map[string]float64 // without labels
}

// Run runs the command.
func (c *portalDoctorCmd) Run(ctx context.Context, e *env) error {
	s, err := c.ask(ctx, e)
	if err != nil {
		return err
	}
	checks := s.checks(e.Now())
	failed := slices.ContainsFunc(checks, func(x portalCheck) bool { return x.State == "failed" })
	if c.JSON {
		err = writeJSON(e.Stdout, map[string]any{"ok": !failed, "checks": checks})
	} else {
		out := &output{w: e.Stdout}
		for _, x := range checks {
			out.line("%-8s %-12s %s", map[string]string{"ok": "ok", "warning": "WARNING", "failed": "FAILED"}[x.State], x.Name, report.Clean(x.Text))
			if x.Remedy != "" {
				out.line("%21s → %s", "", report.Clean(x.Remedy))
			}
		}
		err = out.err
	}
	if err == nil && failed {
		return &exitError{Status: exitChecks}
	}
	return err
}

// ask collects what the portal tells.
func (c *portalDoctorCmd) ask(ctx context.Context, e *env) (*portalState, error) {
	s := &portalState{gauges: map[string]float64{}}
	sent := e.Now()
	if err := c.call(ctx, http.MethodGet, "/rounds/"+url.PathEscape(c.Round), nil, &s.round); err != nil {
		return nil, err
	}
	s.offset = s.round.Clock.Now.Sub(sent.Add(e.Now().Sub(sent) / 2))
	err := errors.Join(
		c.call(ctx, http.MethodGet, "/workers", nil, &s.workers),
		c.call(ctx, http.MethodGet, "/contests/"+url.PathEscape(s.round.Contest)+"/applied", nil, &s.teams),
		c.call(ctx, http.MethodGet, "/deliveries", nil, &s.undelivered))
	if err != nil {
		return nil, err
	}
	text, certificate, err := c.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	if certificate != nil && len(certificate.PeerCertificates) > 0 {
		s.expires = certificate.PeerCertificates[0].NotAfter
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && !strings.ContainsAny(name, "#{") {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				s.gauges[name] = v
			}
		}
	}
	_, _, s.ready = c.get(ctx, "/readyz")
	return s, nil
}

// get reads a page outside of the API with the token of staff.
func (c *portalCaller) get(ctx context.Context, path string) ([]byte, *tls.ConnectionState, error) {
	token, err := c.ready()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quickly)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.Portal, "/")+path, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("calling the portal: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, fmt.Errorf("calling the portal: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the portal answers %s with %s", path, answer.Status)
	}
	return text, answer.TLS, err
}

// checks says what is well and what is not, at a time.
func (s *portalState) checks(now time.Time) (out []portalCheck) {
	add := func(name, state, remedy, format string, args ...any) {
		out = append(out, portalCheck{name, state, fmt.Sprintf(format, args...), remedy})
	}
	if s.ready == nil {
		add("portal", "ok", "", "its database answers and it has a leader")
	} else {
		add("portal", "failed", "look at its log; without a leader no run starts", "%v", s.ready)
	}
	if off := s.offset.Abs(); off > 2*time.Second {
		add("clock", "warning", "set the clocks of both machines by NTP", "the clock of this machine and that of the portal are %s apart", report.Duration(off))
	}
	s.checkRound(now, add)
	switch over := cmp.Or(s.round.Clock.End, now).Add(24 * time.Hour); {
	case s.expires.IsZero():
	case s.expires.Before(over):
		add("certificate", "failed", "renew it and start the portal again with it", "it expires on %s, before the day after the round", s.expires.UTC().Format("2006-01-02 15:04 UTC"))
	default:
		add("certificate", "ok", "", "valid until %s", s.expires.UTC().Format("2006-01-02"))
	}
	s.checkWorkers(add)
	s.checkTeams(add)
	if n := len(s.undelivered); n > 0 {
		add("notices", "warning", "each is on the page /staff/"+s.round.ID+" with its reason", "%s did not arrive, the latest: %s", report.Number(n, "notice"), s.undelivered[0].Why)
	} else {
		add("notices", "ok", "", "all of them arrived")
	}
	s.checkDisk(add)
	return out
}

// An adder adds a check.
type adder = func(name, state, remedy, format string, args ...any)

// checkRound looks at the state of the round and its times.
func (s *portalState) checkRound(now time.Time, add adder) {
	r := &s.round
	switch start := r.Clock.Start; {
	case r.State == contest.Draft:
		add("round", "failed", "iikanji portal state "+r.ID+" ready", "it is a draft: staff alone sees it, and it does not begin")
	case r.State == contest.Registering:
		add("round", "warning", "iikanji portal state "+r.ID+" ready", "it takes registrations and does not begin by its clock")
	case r.State == contest.Ready && !start.IsZero() && now.Before(start):
		add("round", "ok", "", "it begins at %s, in %s", start.UTC().Format("2006-01-02 15:04 UTC"), report.Duration(start.Sub(now).Round(time.Minute)))
	case r.Clock.Paused:
		add("round", "warning", "iikanji portal clock "+r.ID+" resume", "it is paused: no run starts")
	default:
		add("round", "ok", "", "it is %s", r.State)
	}
}

// checkWorkers looks for a worker that is there.
func (s *portalState) checkWorkers(add adder) {
	here, slots := 0, 0
	versions := map[string]bool{}
	for _, w := range s.workers {
		switch {
		case w.Quarantined:
			add("worker", "warning", "mend it, then: iikanji portal pool release "+w.ID+" --reason …", "%s is held or in quarantine", w.Name)
		case w.Gone:
			add("worker", "warning", "start it, or look at the network between", "%s was not heard of since %s", w.Name, w.Seen.UTC().Format("2006-01-02 15:04 UTC"))
		default:
			here++
			slots += w.Slots
			versions[w.Version] = true
		}
	}
	switch {
	case here == 0:
		add("workers", "failed", "iikanji portal worker --portal URL --token-file worker.token", "none is here: no run starts")
	case len(versions) > 1:
		add("workers", "warning", "give all of them one version of iikanji: scores of one board should be of one benchmarker", "%s with %s, of %s", report.Number(here, "worker"), report.Number(slots, "slot"), report.Number(len(versions), "version"))
	default:
		add("workers", "ok", "", "%s with %s", report.Number(here, "worker"), report.Number(slots, "slot"))
	}
}

// checkTeams looks for what teams lack.
func (s *portalState) checkTeams(add adder) {
	playing, lacking := 0, []string{}
	for _, t := range s.teams {
		if t.State != "" {
			continue
		}
		playing++
		if len(t.Lacks) > 0 {
			lacking = append(lacking, t.Name+" ("+strings.Join(t.Lacks, ", ")+")")
		}
	}
	const most = 5
	switch {
	case playing == 0:
		add("teams", "warning", "", "no team takes part")
	case len(lacking) > 0:
		text := strings.Join(lacking[:min(most, len(lacking))], "; ")
		if more := len(lacking) - most; more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		add("teams", "warning", "the page /desk/"+s.round.Contest+" has them all", "%d of %s lack something: %s", len(lacking), report.Number(playing, "team"), text)
	default:
		add("teams", "ok", "", "%s, of which none lacks anything", report.Number(playing, "team"))
	}
}

// checkDisk looks at the disk of the portal and at its last backup.
func (s *portalState) checkDisk(add adder) {
	if free, ok := s.gauges[diskFree]; ok {
		state, remedy := "ok", ""
		switch {
		case free < 256<<20:
			state, remedy = "failed", "make room: results stay on the workers' disks until there is some"
		case free < 2<<30: // 50,000 runs take about as much
			state, remedy = "warning", "50,000 runs take up to 2 GiB"
		}
		add("disk", state, remedy, "%s are free", iikanji.Bytes(free))
	}
	const remedy = "iikanji portal backup FILE, each hour by a timer"
	age, ok := s.gauges[backupAge]
	switch since := time.Duration(age * float64(time.Second)); {
	case !ok:
		add("backup", "warning", remedy, "there is none of this folder")
	case since > 24*time.Hour:
		add("backup", "warning", remedy, "the last one is %s old", report.Duration(since.Round(time.Hour)))
	default:
		add("backup", "ok", "", "the last one is %s old", report.Duration(since.Round(time.Second)))
	}
}
