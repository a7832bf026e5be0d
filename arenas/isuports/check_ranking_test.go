package isuports

import (
	"errors"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// wantCheck checks that err is a fault of a check; for check "" there must be none.
func wantCheck(t *testing.T, what string, err error, check string) {
	t.Helper()
	var f *scenario.Fault
	if check == "" && err != nil || check != "" && (!errors.As(err, &f) || f.Check != check) {
		t.Errorf("%s: %v, want a fault of check %q", what, err, check)
	}
}

func TestCheckRanks(t *testing.T) {
	p := testPlayers(3)
	right := ranksOf(4, newBoard([]row{{p[0], 3}, {p[1], 2}, {p[2], 2}}).entries)
	wantCheck(t, "right", checkRanks(nil, right, 4), "")
	wantCheck(t, "empty", checkRanks(nil, nil, 4), "")
	wantCheck(t, "another page", checkRanks(nil, right, 3), "ranking-ranks")
	swapped := slices.Clone(right)
	swapped[0].score = 1
	wantCheck(t, "rising", checkRanks(nil, swapped, 4), "ranking-order")
	wantCheck(t, "too many", checkRanks(nil, make([]shownRank, rankingLimit+1), 0), "ranking-limit")
}

func TestCheckSight(t *testing.T) {
	p := testPlayers(4)
	c := newCompetition(&tenant{}, "1f", "title")
	see := func(what string, ranks []shownRank, finished bool, s sight, check string) {
		t.Helper()
		page := &page{competition: shownCompetition{c.id, c.title, finished}, ranks: ranks}
		wantCheck(t, what, checkSight(nil, page, 0, c.title, c.within(s)), check)
	}
	first := newBoard([]row{{p[0], 1}, {p[1], 1}, {p[2], 3}})
	second := newBoard([]row{{p[3], 9}, {p[1], 1}, {p[2], 3}, {p[0], 1}})
	shown := func(b *board) []shownRank { return ranksOf(0, b.entries) }

	see("nothing before the upload", nil, false, c.before(), "")
	see("a rank before the upload", shown(first), false, c.before(), "ranking-length")
	before := c.before()
	confirmed := c.offer(first)
	see("old during the upload", nil, false, before, "")
	see("new during the upload", shown(first), false, before, "")
	confirmed()
	see("old after a request during the upload", nil, false, before, "")
	see("old after the upload", nil, false, c.before(), "ranking-stale")
	see("new after the upload", shown(first), false, c.before(), "")
	see("part of it", shown(first)[:2], false, c.before(), "ranking-length")
	c.offer(second)
	see("less than both", shown(first)[:2], false, c.before(), "ranking-torn")
	see("nothing during the second upload", nil, false, c.before(), "ranking-torn")

	wrong := shown(second)
	wrong[0].score = 8
	see("another score", wrong, false, c.before(), "ranking-score")
	wrong = shown(second)
	wrong[2].id, wrong[3].id = wrong[3].id, wrong[2].id
	see("ties in another order", wrong, false, c.before(), "ranking-ties")
	wrong = shown(second)
	wrong[0].name = nil
	see("no name", wrong, false, c.before(), "ranking-names")

	see("finished too early", shown(second), true, c.before(), "competition-finished")
	before = c.before()
	done := c.finish()
	see("while it is being finished", shown(second), true, before, "")
	done()
	see("still open for an early request", shown(second), false, before, "")
	see("open after its end", shown(second), false, c.before(), "competition-finished")
	wantCheck(t, "another title", checkSight(nil, &page{}, 0, c.title, c.before()), "competition-title")
}
