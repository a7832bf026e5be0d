package isuumo

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

func TestLevels(t *testing.T) {
	for raw, want := range map[int64]int{0: 0, 299: 0, 300: 1, 599: 1, 600: 2, 899: 3, 1000: 5, 1799: 10, 1800: 11, 2000: 11, 1e6: 11} {
		if got := levelOf(raw, time.Minute); got != want {
			t.Errorf("%d points in a minute: level %d, want %d", raw, got, want)
		}
	}
	if levelOf(49, 10*time.Second) != 0 || levelOf(50, 10*time.Second) != 1 || levelOf(300, 10*time.Second) != 11 {
		t.Error("the thresholds do not scale with the load")
	}
	for level, want := range map[int]crew{
		0:  {chairs: 3, estates: 3},
		1:  {chairs: 3, estates: 3, polygons: 3},
		2:  {chairs: 3, estates: 3, polygons: 3, bots: 5, chairDrafts: 1, estateDrafts: 1},
		11: {chairs: 12, estates: 12, polygons: 12, bots: 14, chairDrafts: 10, estateDrafts: 10},
	} {
		if got := wholeCrew(level); got != want {
			t.Errorf("level %d: %+v, want %+v", level, got, want)
		}
	}
	if conditionsAt(0) != 1 || conditionsAt(11) != 6 {
		t.Error("the number of conditions")
	}
	if all := wholeCrew(maxLevel); all.chairDrafts > contestSize.files {
		t.Errorf("%d drafts and %d files", all.chairDrafts, contestSize.files)
	}
}

func TestLevelSetting(t *testing.T) {
	for text, want := range map[string]int{"": noLevel, "0": 0, "11": 11} {
		if got, err := fixedLevel(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"-1", "12", "x", "1.5", strings.Repeat("9", 500)} {
		_, err := newScenario(arena.Options{Set: arena.Values{levelSetting: text}})
		if err == nil || !strings.Contains(err.Error(), levelSetting) || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestScore compares the score table with the rules.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		buys, documents, errors, timeouts int64
		want                              float64
	}{{0, 0, 0, 0, 0}, {1, 2, 0, 0, 3}, {100, 200, 2, 0, 200}, {10, 20, 0, 50, 30}, {10, 20, 1, 0, -20}} {
		if got := table.Score([]int64{c.buys, c.documents}, c.errors, c.timeouts); got.Final != c.want {
			t.Errorf("%+v: %g", c, got.Final)
		}
	}
	if !table.FailAtZero || table.MaxErrors != 9 {
		t.Error("the tenth error must end the run, and a score of 0 must fail it")
	}
}
