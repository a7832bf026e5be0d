package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// renamingPatch is a change of two files of the shop that renames a function. It
// also returns the first file with its new content.
func renamingPatch(dir string) (c *iikanji.Change, word, newWord string) {
	word = filepath.Join(dir, "webapp/go/word.go")
	newWord = strings.Replace(shopWord, "word()", "say()", 1)
	c = &iikanji.Change{Kind: "patch", Target: "app", Says: "another name"}
	change.FromEdits(c, iikanji.Restart, change.Edit{Path: word, Old: []byte(shopWord), New: []byte(newWord)},
		change.Edit{Path: filepath.Join(dir, "webapp/go/main.go"), Old: []byte(shopApp), New: []byte(strings.Replace(shopApp, "word()", "say()", 1))})
	return c, word, newWord
}

// halfPatched records a patch of two files as being applied, writes the first
// file, and returns the journal's lines.
func halfPatched(t *testing.T, dir string) (journal string, lines [][]byte) {
	t.Helper()
	c, word, newWord := renamingPatch(dir)
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	op := history.Event{What: history.OpBegun, Change: 1, Side: history.Do, Op: 1}
	err = errors.Join(h.AddChange(c, change.Diff(c)), h.MoveChange(1, iikanji.Applying, ""), h.Append(op))
	edit(t, word, newWord)
	op.What = history.OpDone
	if err := errors.Join(err, h.Append(op), h.Close()); err != nil {
		t.Fatal(err)
	}
	journal = filepath.Join(dir, "history", "journal.jsonl")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	return journal, bytes.SplitAfter(text, []byte("\n"))
}

// TestRecoverDamaged damages the journal of a change that was killed after its
// first file: recover never states that nothing was half done. It shows each
// place, other commands refuse to run, and both ways lead to a known state.
func TestRecoverDamaged(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", remedyFile(t, oneOfEach()["mysqlconf"])) // fills the folder
	original := filesBelow(t, dir)
	hist := filepath.Join(dir, "history")
	for name, damage := range map[string]func(lines [][]byte) [][]byte{
		"a damaged line": func(l [][]byte) [][]byte { l[1] = []byte("{\"v\":1,\n"); return l },
		"a missing line": func(l [][]byte) [][]byte { return append(l[:1:1], l[2:]...) },
		"an empty file":  func([][]byte) [][]byte { return nil },
		"its last lines": func(l [][]byte) [][]byte { return l[:1] },
	} {
		if err := os.RemoveAll(hist); err != nil {
			t.Fatal(err)
		}
		journal, lines := halfPatched(t, dir)
		if err := os.WriteFile(journal, bytes.Join(damage(lines), nil), 0o600); err != nil {
			t.Fatal(err)
		}
		half := filesBelow(t, dir)
		if name != "its last lines" { // only recover compares the files with the changes
			_, said := shell(t, exitFailed, "revert", "shop", "--dir", dir, "--all")
			if !strings.Contains(said, "is not certain") || !strings.Contains(said, "iikanji recover shop --dir "+dir) {
				t.Errorf("%s: revert: %s", name, said)
			}
		}
		out, said := shell(t, exitFailed, "recover", "shop", "--dir", dir)
		for _, want := range []string{"webapp/go/word.go  as after the change", "webapp/go/main.go  as before the change", "--damaged undo", "--damaged keep"} {
			if !strings.Contains(out+said, want) {
				t.Errorf("%s: %q is missing in\n%s%s", name, want, out, said)
			}
		}
		if strings.Contains(out+said, "nothing was half done") {
			t.Errorf("%s: %s", name, out)
		}
		same(t, name+": only shown", filesBelow(t, dir), half)
		way, says := "undo", "change 1 was half done and is undone"
		if name == "a damaged line" {
			way, says = "keep", "change 1 was half done and is completed and kept"
		}
		if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir, "--damaged", way); !strings.Contains(out, says) {
			t.Errorf("%s: %s: %s", name, way, out)
		}
		if way == "keep" {
			shell(t, exitDone, "revert", "shop", "--dir", dir, "--all")
		}
		same(t, name+": "+way, filesBelow(t, dir), original)
		if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir); out != "nothing was half done\n" {
			t.Errorf("%s: a second time: %s", name, out)
		}
	}
}

// TestRecoverDamageWithoutHarm: where every place is as the recorded stages state,
// recover states the damage, settles it, and other commands run again.
func TestRecoverDamageWithoutHarm(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	remedy := remedyFile(t, oneOfEach()["appenv"])
	shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedy)
	journal := filepath.Join(dir, "history", "journal.jsonl")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[2] = []byte("damaged\n")
	if err := os.WriteFile(journal, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	with := filesBelow(t, dir)
	out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir)
	if !strings.Contains(out, "the journal is damaged: line 3") {
		t.Errorf("%s", out)
	}
	same(t, "settled", filesBelow(t, dir), with)
	shell(t, exitDone, "revert", "shop", "--dir", dir, "--all")
}

// TestRecoverEndsStuckAndLitter: a change that could not be undone because of a
// passing fault is undone by recover, and temporary files of earlier kills go.
func TestRecoverEndsStuckAndLitter(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", remedyFile(t, oneOfEach()["mysqlconf"]))
	original := filesBelow(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "history")); err != nil {
		t.Fatal(err)
	}
	halfPatched(t, dir)
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.MoveChange(1, iikanji.Reverting, ""), h.MoveChange(1, iikanji.Stuck, "the disk was full"), h.Close()); err != nil {
		t.Fatal(err)
	}
	build := filepath.Join(dir, "bin", "go-build77")
	if err := os.MkdirAll(build, 0o755); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir, "webapp/go/.main.go.123"), "a write that was killed")
	if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir); out != "change 1 was half done and is undone: another name\n" {
		t.Errorf("%s", out)
	}
	edit(t, filepath.Join(dir, "webapp/go/.word.go.456"), "of a recover that failed")
	if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir); out != "nothing was half done\n" {
		t.Errorf("%s", out)
	}
	same(t, "recovered", filesBelow(t, dir), original)
	if _, err := os.Stat(build); !os.IsNotExist(err) {
		t.Errorf("a folder of a killed build is left: %v", err)
	}
}
