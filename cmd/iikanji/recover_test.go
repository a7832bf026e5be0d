package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestRecoverAway tests that recover puts back a change that a killed search had
// reverted for a comparison, and that other commands refuse to run before that.
func TestRecoverAway(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	remedy := remedyFile(t, oneOfEach()["mysqlconf"])
	shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", remedy) // fills the folder
	original := filesBelow(t, dir)
	shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedy)
	with := filesBelow(t, dir)
	shell(t, exitDone, "revert", "shop", "--dir", dir, "--all")
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	notes := map[string]any{"version": 1, "in_force": []int{1}, "away": []int{1}} // of a comparison's other arm
	if err := errors.Join(h.SaveLedger(notes), h.Close()); err != nil {
		t.Fatal(err)
	}

	for _, args := range [][]string{{"apply", "--file", remedy}, {"plan", "--file", remedy}, {"revert", "--all"}, {"export", filepath.Join(t.TempDir(), "out")}} {
		_, said := shell(t, exitFailed, append([]string{args[0], "shop", "--dir", dir}, args[1:]...)...)
		if !strings.Contains(said, "was killed in a comparison") || !strings.Contains(said, "hint: iikanji recover shop --dir "+dir) {
			t.Errorf("%s with a change away: %s", args[0], said)
		}
	}
	if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir); !strings.HasPrefix(out, "change 1 was reverted for a comparison and is applied again: ") {
		t.Errorf("%s", out)
	}
	same(t, "put back", filesBelow(t, dir), with)
	if out, _ := shell(t, exitDone, "recover", "shop", "--dir", dir, "--json"); strings.Join(strings.Fields(out), "") != `{"reverted":[],"put_back":[]}` {
		t.Errorf("a second time: %s", out)
	}
	shell(t, exitDone, "revert", "shop", "--dir", dir, "--all")
	same(t, "taken back", filesBelow(t, dir), original)
}
