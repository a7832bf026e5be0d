package isuports

import (
	"cmp"
	"slices"
	"strconv"
)

// A row is a data row of a CSV with scores.
type row struct {
	player *player
	score  int64
}

// csvOf returns the file with rows.
func csvOf(rows []row) []byte {
	b := []byte("player_id,score\n")
	for _, r := range rows {
		b = append(b, r.player.id...)
		b = append(b, ',')
		b = strconv.AppendInt(b, r.score, 10)
		b = append(b, '\n')
	}
	return b
}

// A board is a whole ranking. It does not change.
type board struct{ entries []entry }

type entry struct {
	player *player
	score  int64
	row    int // of the CSV; it decides ties
}

// newBoard returns the ranking of the rows of a CSV. The last row of a player
// counts.
func newBoard(rows []row) *board {
	last := make(map[*player]int, len(rows))
	for i, r := range rows {
		last[r.player] = i
	}
	b := &board{make([]entry, 0, len(last))}
	for i, r := range rows {
		if last[r.player] == i {
			b.entries = append(b.entries, entry{r.player, r.score, i})
		}
	}
	slices.SortFunc(b.entries, func(x, y entry) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row)) })
	return b
}

// page returns the entries of the page that begins behind a rank.
func (b *board) page(after int) []entry {
	from := min(after, len(b.entries))
	return b.entries[from:min(from+rankingLimit, len(b.entries))]
}

// shows reports whether a page is exactly a page of the board.
func (b *board) shows(ranks []shownRank, after int) bool {
	want := b.page(after)
	if len(ranks) != len(want) {
		return false
	}
	for i, k := range ranks {
		if e := want[i]; k.score != e.score || string(k.id) != e.player.id || string(k.name) != e.player.name {
			return false
		}
	}
	return true
}
