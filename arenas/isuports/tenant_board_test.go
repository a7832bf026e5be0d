package isuports

import (
	"slices"
	"testing"
)

// testPlayers are players with the ids a, b, c ...
func testPlayers(n int) (players []*player) {
	for i := range n {
		id := string(rune('a' + i))
		players = append(players, &player{id: id, name: "name of " + id})
	}
	return players
}

// ranksOf returns the answer that shows entries behind a rank.
func ranksOf(after int, entries []entry) (ranks []shownRank) {
	for i, e := range entries {
		ranks = append(ranks, shownRank{int64(after + i + 1), e.score, []byte(e.player.id), []byte(e.player.name)})
	}
	return ranks
}

func idsOf(b *board) (ids []string) {
	for _, e := range b.entries {
		ids = append(ids, e.player.id)
	}
	return ids
}

func TestBoard(t *testing.T) {
	p := testPlayers(3)
	for _, c := range []struct {
		rows []row
		want []string
	}{
		{nil, nil},
		{[]row{{p[0], 1}, {p[1], 3}, {p[2], 2}}, []string{"b", "c", "a"}},
		{[]row{{p[0], 9}, {p[1], 5}, {p[0], 1}}, []string{"b", "a"}},        // the last row counts
		{[]row{{p[0], 5}, {p[1], 5}, {p[0], 5}}, []string{"b", "a"}},        // its place decides ties
		{[]row{{p[2], 5}, {p[0], 5}, {p[1], 5}}, []string{"c", "a", "b"}},   // not the player
		{[]row{{p[2], -5}, {p[0], 0}, {p[1], -5}}, []string{"a", "c", "b"}}, // below 0
	} {
		if got := idsOf(newBoard(c.rows)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.rows, got, c.want)
		}
	}
	csv := string(csvOf([]row{{p[0], 7}, {p[1], -1}}))
	if want := "player_id,score\na,7\nb,-1\n"; csv != want {
		t.Errorf("CSV %q, want %q", csv, want)
	}
}

func TestBoardPages(t *testing.T) {
	var rows []row
	for range 2 {
		for i := range 75 {
			rows = append(rows, row{&player{id: string(rune(0x4e00 + len(rows)))}, int64(i)})
		}
	}
	b := newBoard(rows)
	for after, want := range map[int]int{0: 100, 1: 100, 50: 100, 60: 90, 149: 1, 150: 0, 1000: 0} {
		page := b.page(after)
		if len(page) != want {
			t.Errorf("%d ranks behind rank %d, want %d", len(page), after, want)
		}
		if !b.shows(ranksOf(after, page), after) {
			t.Errorf("the board does not show its own page behind rank %d", after)
		}
		if want > 1 && b.shows(ranksOf(after, page[1:]), after) {
			t.Errorf("the board shows a page behind rank %d without its first rank", after)
		}
	}
}
