package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/doctor"
	"github.com/iikanji/iikanji/internal/site/observe"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

// siteState are the files of a foreign site that a change or a sensor may touch.
func siteState(t *testing.T, dir string) map[string]string {
	t.Helper()
	state := map[string]string{}
	for _, root := range []string{"conf", "app", "sql", "bin", "public"} {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			state[path] = info.Mode().String() + "\n" + string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// TestForeignSiteUnderLoad takes a site that a shell script has started from init to an
// applied change, and back to the byte.
func TestForeignSiteUnderLoad(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	s, err := targettest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	work := t.TempDir()
	place := []string{"--dir", work}
	with := func(words ...string) []string { return append(words, place...) }
	original := siteState(t, s.Dir)

	out, said := shell(t, exitDone, "init", s.URL, "--into", s.Dir, "--bench", "./bin/load $IIKANJI_URL $IIKANJI_SECONDS")
	for _, want := range []string{"nginx", "mariadb", "describes the site at " + s.URL, "iikanji doctor"} {
		if !strings.Contains(out, want) {
			t.Errorf("init: no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "to do:") || strings.Contains(out+said, targettest.Secret) {
		t.Errorf("init leaves something to do, or prints a secret:\n%s", out)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, target.Name))
	if err != nil || strings.Contains(string(text), targettest.Secret) {
		t.Errorf("the file: %v\n%s", err, text)
	}
	_, said = shell(t, exitUsage, "init", s.URL, "--into", s.Dir)
	if !strings.Contains(said, "--force replaces it") {
		t.Errorf("a second init: %s", said)
	}
	siteDoctor(t, s, place)

	out, _ = shell(t, exitDone, with("bench", s.Dir, "--load", "1s", "--json")...)
	var run iikanji.Run
	if err := json.Unmarshal([]byte(out), &run); err != nil || run.Outcome != iikanji.Passed || run.Score < 1 || len(run.Usage) == 0 {
		t.Errorf("bench: %v\n%s", err, out)
	}
	var d diagnose.Diagnosis
	missing := func(f iikanji.Finding) bool { return f.Code == "DB101" && strings.Contains(f.Where, "booking") }
	for range busyTries {
		out, said = shell(t, exitDone, with("diagnose", s.Dir, "--load", "3s", "--json")...)
		if strings.Contains(out, targettest.Secret) {
			t.Error("a secret is in the diagnosis")
		}
		if !strings.Contains(said, "restarting ") {
			t.Errorf("diagnose restarts the apps and does not say so:\n%s", said)
		}
		d = diagnose.Diagnosis{}
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(d.Sensors, func(s observe.Sensor) bool { return !s.Green }) && slices.ContainsFunc(d.Findings, missing) {
			break
		}
	}
	for _, sensor := range d.Sensors {
		if !sensor.Green {
			t.Errorf("%s is red: %s", sensor.Name, sensor.Why())
		}
	}
	if !slices.ContainsFunc(d.Findings, missing) {
		t.Fatalf("no index for booking among %+v", d.Findings)
	}
	out, said = shell(t, exitDone, with("diagnose", s.Dir, "--load", "1s", "--no-restart")...)
	if n := strings.Count(out, "\n"); strings.Contains(said, "restarting ") || n > briefLines {
		t.Errorf("diagnose --no-restart: %d lines\n%s\n%s", n, said, out)
	}
	same(t, "observed", siteState(t, s.Dir), original)

	out, _ = shell(t, exitDone, with("apply", s.Dir, "DB101.1")...)
	if !strings.Contains(out, "is applied") {
		t.Errorf("apply:\n%s", out)
	}
	shell(t, exitDone, with("apply", s.Dir, "--file", remedyFile(t, iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "upstream keepalive", "keepalive": "8"}}))...)
	if !differs(siteState(t, s.Dir), original) {
		t.Error("applying changed no file")
	}
	if _, err := get(s.URL + "/harbour/harbour-1"); err != nil {
		t.Error(err)
	}
	shell(t, exitDone, with("recover", s.Dir)...)
	out, _ = shell(t, exitDone, with("revert", s.Dir, "--all")...)
	if strings.Count(out, "is undone") != 2 {
		t.Errorf("revert:\n%s", out)
	}
	same(t, "reverted", siteState(t, s.Dir), original)
	if _, err := get(s.URL + "/harbour/harbour-1"); err != nil {
		t.Error(err)
	}
	outlives(t, s)
}

// siteDoctor requires that no check fails, also with restarts, and that a failed
// check has a remedy.
func siteDoctor(t *testing.T, s *targettest.Site, place []string) {
	t.Helper()
	out, _ := shell(t, exitDone, append([]string{"doctor", s.Dir, "--restart", "--json"}, place...)...)
	var doc struct {
		OK     bool
		Checks []doctor.Check
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || !doc.OK {
		t.Fatalf("doctor: %v\n%s", err, out)
	}
	restarts := 0
	for _, c := range doc.Checks {
		if c.Name == "restart" && c.Took > 0 {
			restarts++
		}
	}
	if restarts != 4 {
		t.Errorf("%d services were restarted, want 4\n%s", restarts, out)
	}
	file := filepath.Join(s.Dir, target.Name)
	right, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.NewReplacer("conf/nginx.conf\"", "conf/none.conf\"", "listen = \"127.0.0.1:", "listen = \"127.0.0.2:").Replace(string(right))
	edit(t, file, wrong)
	out, _ = shell(t, exitChecks, append([]string{"doctor", s.Dir}, place...)...)
	for _, want := range []string{"none.conf: it does not exist", "no process is found by listen 127.0.0.2:", "remedy: correct config", "failed"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor of a wrong file: no %q in\n%s", want, out)
		}
	}
	edit(t, file, strings.Replace(string(right), "engine = ", "enigne = ", 1))
	_, said := shell(t, exitUsage, append([]string{"doctor", s.Dir}, place...)...)
	if !strings.Contains(said, "did you mean engine?") || !strings.Contains(said, target.Name+":") {
		t.Errorf("an unknown key: %s", said)
	}
	edit(t, file, string(right))
}

// outlives requires that services that were restarted are not children of this
// process: the site goes on when iikanji ends.
func outlives(t *testing.T, s *targettest.Site) {
	t.Helper()
	for _, name := range []string{"nginx", "counter", "tidy", "db"} {
		p, err := process.ReadProcess(host.Local{}, s.PID(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.Parent == os.Getpid() {
			t.Errorf("%s is a child of this process", name)
		}
	}
}
