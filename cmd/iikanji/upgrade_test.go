package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestUpgradeKeepsHistories reads histories that programs of older tags wrote, one archive of
// testdata/histories for each tag. v0.1.0 wrote its one on isublog: diagnose, apply, revert
// and a note by hand, then tune for 90 s, which was interrupted. Each command that reads a
// history finds what the older program showed of it, and writes nothing into it.
func TestUpgradeKeepsHistories(t *testing.T) {
	tier.Slow(t)
	archives, err := filepath.Glob("testdata/histories/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) { readOldHistory(t, archive) })
	}
}

func readOldHistory(t *testing.T, archive string) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	at := filepath.Join(dir, "history")
	before := folderSums(t, at)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"history", "isublog"}, []string{"1  appenv     kept", "2  mysqlconf  reverted", "3  mysqlconf  applied", "a pool of at least 10 connections"}},
		{[]string{"history", "isublog", "1"}, []string{"db.SetMaxIdleConns(10)"}},
		{[]string{"history", "isublog", "--runs", "--format", "tsv"}, []string{"1\t2026-11-28 01:17:40\tpassed\t146\t", "4\t2026-11-28 01:18:19\tpassed\t9,747\t"}},
		{[]string{"history", "show", "isublog", "1"}, []string{"before anything", "isublog  run 1"}},
		{[]string{"history", "diff", "isublog", "3", "4"}, []string{"run 4: "}},
		{[]string{"history", "isublog", "--search"}, []string{"→ 5 DB201: set innodb_buffer_pool_size", "48 runs, 0 of them void, in 399s; noise of a pair 5.0 %"}},
		{[]string{"diagnose", "isublog", "--run", "1", "--all"}, []string{"DB126", "APP207", "no resource was used up"}},
		{[]string{"diagnose", "isublog", "--run", "3", "--explain", "DB201"}, []string{"DB201"}},
		{[]string{"report", "isublog", "--out", "-", "--format", "json"}, []string{`"outcome": "passed"`}},
		{[]string{"ui", "isublog", "--check"}, []string{"history: 50 runs, 5 changes"}},
	} {
		out, errs, status := invoke(t, append(c.args, "--history", at, "--dir", filepath.Join(dir, "none"))...)
		if status != exitDone {
			t.Errorf("iikanji %q: status %d: %s", c.args, status, errs)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("iikanji %q lacks %q:\n%s", c.args, want, out)
			}
		}
	}
	if after := folderSums(t, at); after != before {
		t.Errorf("reading has changed the history:\n%s\nbefore:\n%s", after, before)
	}
	nextRun(t, at)
}

// nextRun: the newer program goes on in the history with the next number.
func nextRun(t *testing.T, at string) {
	t.Helper()
	h, err := history.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	old, err := h.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range old {
		if _, err := h.LoadRun(id); err != nil {
			t.Errorf("run %d: %v", id, err)
		}
	}
	if id, _, err := h.NewRun(); err != nil || id != old[len(old)-1]+1 {
		t.Errorf("the next run is %d, %v; want the one after %d", id, err, old[len(old)-1])
	}
}

// folderSums is a line for each file below a folder.
func folderSums(t *testing.T, dir string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", "find . -type f | LC_ALL=C sort | xargs sha256sum")
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
