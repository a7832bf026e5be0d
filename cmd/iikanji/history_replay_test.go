package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// ranNow adds a run of the present state to a history.
func ranNow(t *testing.T, dir string) {
	t.Helper()
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, _, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SaveRun(&iikanji.Run{ID: id, Scenario: "shop", Outcome: iikanji.Passed, Score: 100, Took: time.Second}); err != nil {
		t.Fatal(err)
	}
}

// TestReplayForReal brings a real site into the states of three runs, back and forth:
// each time its files have the bytes of that run.
func TestReplayForReal(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	each := oneOfEach()
	shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedyFile(t, each["nginxconf"]), "--no-keep") // makes the history, and a reverted change
	var states []map[string]string
	for _, kind := range []string{"", "mysqlconf", "nginxconf"} {
		if kind != "" {
			shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedyFile(t, each[kind]))
		}
		ranNow(t, dir)
		states = append(states, filesBelow(t, dir))
	}
	out, _ := shell(t, exitDone, "history", "replay", "shop", "1", "--dir", dir, "--dry-run")
	if out == "" || !strings.HasPrefix(out, "change 3 would be undone: ") || !strings.Contains(out, "change 2 would be undone: ") || strings.Contains(out, "change 1 ") {
		t.Errorf("--dry-run: %s", out)
	}
	same(t, "--dry-run", filesBelow(t, dir), states[2])
	for _, run := range []string{"1", "3", "2"} {
		shell(t, exitDone, "history", "replay", "shop", run, "--dir", dir)
		same(t, "replay of run "+run, filesBelow(t, dir), states[run[0]-'1'])
	}
	out, _ = shell(t, exitDone, "history", "replay", "shop", "2", "--dir", dir)
	if !strings.HasPrefix(out, "nothing to change") {
		t.Errorf("replayed twice: %s", out)
	}
	out, _ = shell(t, exitDone, "history", "shop", "--dir", dir, "--format", "tsv")
	if !strings.Contains(out, "2\tmysqlconf\tkept\t") || !strings.Contains(out, "3\tnginxconf\treverted\t") {
		t.Errorf("the stages after the replay:\n%s", out)
	}
	_, said := shell(t, exitFailed, "history", "replay", "shop", "99", "--dir", dir)
	if !strings.Contains(said, "no beginning of run 99") {
		t.Errorf("no such run: %s", said)
	}
}
