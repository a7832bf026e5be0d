package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestWorkOnSite: the runs of a day with edits between them commit the app's source, go on
// without git, are proven step by step, and are told in the report of the day; a proof that
// is killed leaves a site that recover brings back to the byte.
func TestWorkOnSite(t *testing.T) {
	tier.Slow(t)
	x := newExamples(t)
	startSite(t, x)
	x.giveBench()
	x.commitSource()
	bench := func(more string) string { t.Helper(); return x.said("iikanji bench . --load 1s " + more) }
	bench("")
	x.editByHand()
	x.shell("echo '// edited' >> " + x.source())
	if out := bench("-m 'a comment'"); !strings.Contains(out, " committed, ") || !strings.Contains(out, " in "+filepath.Base(filepath.Dir(x.source()))) {
		t.Errorf("the app's source is not committed:\n%s", out)
	}
	if log := x.said("git -C " + filepath.Dir(x.source()) + " log --format=%s"); !strings.Contains(log, "a comment") {
		t.Errorf("commits of the app: %s", log)
	}
	x.editByHand()
	if out := x.saidWithoutGit("iikanji bench . --load 1s"); !strings.Contains(out, "git is not installed") {
		t.Errorf("without git:\n%s", out)
	}
	conf := filepath.Join(x.site.Dir, "conf", "site-ferry.conf")
	edited, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	x.killProof()
	if now, err := os.ReadFile(conf); err != nil || bytes.Equal(now, edited) {
		t.Fatalf("the proof was killed before it brought up the former state: %v", err)
	}
	if out := x.said("iikanji recover ."); !strings.Contains(out, "undone") {
		t.Errorf("recover: %s", out)
	}
	if now, err := os.ReadFile(conf); err != nil || !bytes.Equal(now, edited) {
		t.Errorf("recover has not brought the edits back: %v\n%s", err, now)
	}
	for try := 1; ; try++ { // on a busy machine a pair may rightly not count
		out := x.said("iikanji work prove --day --pairs 1 --load 1s")
		if strings.Count(out, "; 1 pair;") == 2 {
			break
		}
		if try == busyTries {
			t.Fatalf("each step of the day:\n%s", out)
		}
	}
	if now, err := os.ReadFile(conf); err != nil || !bytes.Equal(now, edited) {
		t.Errorf("the proofs have not left the site as it was: %v\n%s", err, now)
	}
	out := x.said("iikanji report . --day --out -")
	for _, want := range []string{"3 runs, 3 passed", "a comment", "site-ferry.conf", "work prove, run 2: ", "## What was found and left"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report of the day has no %q:\n%s", want, out)
		}
	}
	x.editByHand()
	out = x.said("iikanji diagnose . --load 2s")
	if !strings.Contains(out, "changed by hand since run ") {
		t.Errorf("an observed run does not say what was changed:\n%s", out)
	}
	run := regexp.MustCompile(`  run (\d+),`).FindStringSubmatch(out)
	if run == nil {
		t.Fatalf("which run was observed?\n%s", out)
	}
	if out := x.said("iikanji work --since " + run[1]); !strings.Contains(out, "Nothing changed") {
		t.Errorf("the state of the observed run is not the present one:\n%s", out)
	}
	var choice choose.Choice
	if err := json.Unmarshal([]byte(x.said("iikanji choose . --json")), &choice); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range choice.Rows {
		n += len(row.Runs)
		if slices.ContainsFunc(row.Runs, func(id iikanji.RunID) bool { return fmt.Sprint(id) == run[1] }) {
			t.Errorf("the observed run %s counts in the state %q", run[1], row.Says)
		}
	}
	if n == 0 {
		t.Error("no run counts")
	}
}

// commitSource makes a repository of the app's source, and has each run commit in it.
func (x *examples) commitSource() {
	x.t.Helper()
	file := filepath.Join(x.site.Dir, target.Name)
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(text, "\n[team]\ncommit = \"app\"\n"...), 0o600)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	dir := filepath.Dir(x.source())
	x.shell("git -C " + dir + " init --quiet && git -C " + dir + " add . && git -C " + dir + " commit --quiet -m first")
}

// source is a file of the app's source.
func (x *examples) source() string {
	x.t.Helper()
	found, err := filepath.Glob(filepath.Join(x.site.Dir, "*", "main.go"))
	if err != nil || len(found) == 0 {
		x.t.Fatalf("the source of the app: %q, %v", found, err)
	}
	return found[0]
}

// said is what a line prints, which must succeed.
func (x *examples) said(line string) string { return x.saidWith(line, x.env()) }

// saidWithoutGit is said on a machine without git.
func (x *examples) saidWithoutGit(line string) string {
	x.t.Helper()
	bin := x.t.TempDir()
	for _, name := range []string{"iikanji", "sh", "env", "go", "systemctl", "dpkg-query", "crontab", "nginx", "mariadbd"} {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
				x.t.Fatal(err)
			}
		}
	}
	return x.saidWith(line, append(x.env(), "PATH="+bin))
}

func (x *examples) saidWith(line string, env []string) string {
	x.t.Helper()
	cmd := exec.CommandContext(x.t.Context(), "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = x.site.Dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// killProof kills an iikanji work prove while the former state is on the site.
func (x *examples) killProof() {
	x.t.Helper()
	cmd := exec.CommandContext(x.t.Context(), "iikanji", "work", "prove", "--pairs", "4", "--load", "2s")
	var out lockedBuffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = x.site.Dir, x.env(), &out, &out
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !x.away() {
		select {
		case err := <-ended:
			x.t.Fatalf("it ended by itself: %v\n%s", err, out.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		x.t.Fatal(err)
	}
	<-ended
}

// away reports whether a change is in force that brings up a former state.
func (x *examples) away() bool {
	x.t.Helper()
	h, err := history.View(x.history())
	if err != nil {
		return false // it is being written
	}
	defer h.Close()
	applied, err := h.ChangesAt(func(s iikanji.Stage) bool { return s == iikanji.Applied })
	return err == nil && len(applied) > 0
}
