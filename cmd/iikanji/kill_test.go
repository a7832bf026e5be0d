package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestApplyKilled kills the real command between the first and the last journal line
// of a change. Other commands must refuse to run until recover has run; after it,
// the change is undone to the byte, or applied completely.
func TestApplyKilled(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	each := oneOfEach()
	shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", remedyFile(t, each["mysqlconf"])) // fills the folder
	original := filesBelow(t, dir)
	halves, tried := 0, 0
	for _, k := range []struct {
		kind  string
		lines int // in the journal: planned, applying, then two for each operation
	}{{"mysqlconf", 3}, {"patch", 4}, {"ddl", 3}, {"mysqlconf", 5}, {"patch", 3}, {"patch", 4}, {"patch", 3}, {"patch", 4}} {
		if halves > 0 && tried >= 4 { // on a busy machine a change may be over before the kill
			break
		}
		tried++
		killedAfter(t, dir, remedyFile(t, each[k.kind]), k.lines)
		h, err := history.View(filepath.Join(dir, "history"))
		if err != nil {
			t.Fatal(err)
		}
		half, err := halfDone(h)
		if err := errors.Join(err, h.Close()); err != nil {
			t.Fatal(err)
		}
		if len(half) > 0 {
			halves++
			for _, args := range [][]string{{"apply", "--file", remedyFile(t, each["ddl"])}, {"plan", "--file", remedyFile(t, each["ddl"])}, {"revert", "--all"}} {
				_, said := shell(t, exitFailed, append([]string{args[0], "shop", "--dir", dir}, args[1:]...)...)
				if !strings.Contains(said, "is half done: it was applying") || !strings.Contains(said, "hint: iikanji recover shop --dir "+dir) {
					t.Errorf("%s with half a change: %s", args[0], said)
				}
			}
		}
		out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir, "--json")
		var doc struct{ Reverted []iikanji.Change }
		if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Reverted) != len(half) {
			t.Errorf("%d were half done, recovered: %v\n%s", len(half), err, out)
		}
		shell(t, exitDone, "revert", "shop", "--dir", dir, "--all") // if the kill came after the change
		same(t, "recovered", filesBelow(t, dir), original)
	}
	if halves == 0 {
		t.Error("no command was killed in the middle of a change")
	}
}

// killedAfter kills an apply when its change has the given number of journal lines, or a little
// later.
func killedAfter(t *testing.T, dir, remedy string, lines int) {
	t.Helper()
	journal := filepath.Join(dir, "history", "journal.jsonl")
	count := func() int {
		b, err := os.ReadFile(journal)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return bytes.Count(b, []byte("\n"))
	}
	before := count()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "iikanji", "apply", "shop", "--dir", dir, "--file", remedy)
	cmd.Env = append(os.Environ(), shopVariable+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for count() < before+lines {
		select {
		case <-ended:
			if n := count() - before; n < lines {
				t.Fatalf("it ended by itself with %d lines:\n%s", n, said.String())
			}
			return // between two looks
		case <-time.After(time.Millisecond):
		}
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-ended
}

// TestRecoverBroken recovers a site that cannot come up, because a half-applied patch
// does not build.
func TestRecoverBroken(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", remedyFile(t, oneOfEach()["mysqlconf"])) // fills the folder
	original := filesBelow(t, dir)
	c, word, newWord := renamingPatch(dir)
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.AddChange(c, change.Diff(c)), h.MoveChange(1, iikanji.Applying, ""), h.Close()); err != nil {
		t.Fatal(err)
	}

	edit(t, word, newWord+"// by hand\n")
	_, said := shell(t, exitFailed, "recover", "shop", "--dir", dir)
	if b, err := os.ReadFile(word); err != nil || string(b) != newWord+"// by hand\n" || !strings.Contains(said, "was edited since") {
		t.Errorf("an edit by hand: %v, %q\n%s", err, b, said)
	}
	edit(t, word, newWord)
	edit(t, filepath.Join(filepath.Dir(word), ".main.go.2079463807"), "what a write leaves that is killed before its rename")
	out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir)
	if out != "change 1 was half done and is undone: another name\n" {
		t.Errorf("%s", out)
	}
	same(t, "recovered", filesBelow(t, dir), original)
	edit(t, filepath.Join(dir, "conf/.iikanji-test-2079463807.conf"), "what a plan leaves that is killed")
	if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir); out != "nothing was half done\n" {
		t.Errorf("a second time: %q", out)
	}
	same(t, "recovered again", filesBelow(t, dir), original)
}

// TestUpHasIt tests that a command does not touch a stack that iikanji up runs, and
// that the error names that process.
func TestUpHasIt(t *testing.T) {
	tier.Slow(t)
	dir := filepath.Join(workFolder(t), "isu")
	s := startUp(t, "--dir", dir)
	s.expect(`^Ctrl-C stops it\.$`)
	cmd := exec.CommandContext(t.Context(), "iikanji", "plan", "tiny", "--dir", dir, "--file", remedyFile(t, oneOfEach()["mysqlconf"]))
	cmd.Env = append(os.Environ(), tinyVariable+"=1")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), "iikanji up uses the stack: process ") {
		t.Errorf("%s", out)
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
