package isuxi

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
)

// The largest identifiers of the initial data; GET /initialize deletes the rows beyond them.
// Less data than the contest's ends with the same identifiers.
const (
	lastRelation  = 500000
	lastFootprint = 500000
	lastEntry     = 500000
	lastComment   = 1500000
)

// tokyo is the time zone of the site.
var tokyo = time.FixedZone("JST", 9*60*60)

// dataBegin is the time of an identifier 0.
var dataBegin = time.Date(2013, 9, 17, 10, 0, 0, 0, tokyo)

// Distances in time of rows with adjacent identifiers, and the head start of entries.
const (
	rowDistance     = 120 * time.Second
	commentDistance = 40 * time.Second
	commentsBegin   = 3000000 * time.Second
)

// rowTime is when a relation, a footprint or an entry of the initial data was made.
func rowTime(id int) time.Time { return dataBegin.Add(time.Duration(id) * rowDistance) }

// commentTime is when a comment of the initial data was made.
func commentTime(id int) time.Time {
	return dataBegin.Add(commentsBegin + time.Duration(id)*commentDistance)
}

// A dataSize is the number of users and, for each, of the rows that are theirs.
type dataSize struct{ Users, Draws, Footprints, Entries, Comments int }

var (
	contestSize = dataSize{Users: 5000, Draws: 50, Footprints: 100, Entries: 100, Comments: 300}
	// smallSize is that of tests. Its lists of the newest 1,000 rows are cut as the contest's.
	smallSize = dataSize{Users: 300, Draws: 4, Footprints: 60, Entries: 25, Comments: 40}
)

// A person is a row of users, salts and profiles. Its identifier is its index and one.
type person struct {
	Account, Nick, Email   string
	Last, First, Sex, Pref string
	birthday               time.Time
	salt                   string
}

// An entryRow is an entry of the initial data.
type entryRow struct {
	owner   int32
	private bool
	body    uint8
}

// A commentRow is a comment of the initial data.
type commentRow struct {
	entry, author int32
	text          uint8
}

// A pairRow is two users: friends, or the visited one and the visitor.
type pairRow struct{ one, another int32 }

// A world is the initial data. The rows of a list have ascending identifiers; the last one
// has that of the constants above.
type world struct {
	size       dataSize
	people     []person
	friends    []pairRow // a pair has two identifiers; those of no pair are zero
	footprints []pairRow
	entries    []entryRow
	comments   []commentRow
}

// Identifiers of the row with an index.
func (w *world) footprintID(i int) int { return lastFootprint - len(w.footprints) + 1 + i }
func (w *world) entryID(i int) int     { return lastEntry - len(w.entries) + 1 + i }
func (w *world) commentID(i int) int   { return lastComment - len(w.comments) + 1 + i }

// relationID is the identifier of the first of the two rows of a pair.
func (w *world) relationID(i int) int { return lastRelation - 2*len(w.friends) + 1 + 2*i }

// draw makes the initial data.
func (s dataSize) draw() *world {
	w := &world{size: s}
	source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(dataSeed, n)) }
	w.drawPeople(source(1))
	w.drawFriends(source(2))
	w.drawFootprints(source(3))
	w.drawEntries(source(4))
	w.drawComments(source(5))
	return w
}

func choose(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

func (w *world) drawPeople(r *rand.Rand) {
	first := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	days := int(time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC).Sub(first).Hours() / 24)
	for id := 1; id <= w.size.Users; id++ {
		p := person{Account: fmt.Sprintf("%s%d", seeded.UserName(r, 0), id), Nick: choose(r, nickNames),
			Last: choose(r, lastNames), First: choose(r, firstNames), Sex: choose(r, sexes), Pref: choose(r, prefectures),
			birthday: first.AddDate(0, 0, r.IntN(days)), salt: fmt.Sprintf("%06x", r.IntN(1<<24))}
		p.Email = p.Account + "@" + choose(r, mailDomains)
		if id%10 == 0 {
			p.Sex = otherSex
		}
		w.people = append(w.people, p)
	}
}

// other draws a user who is not the one with the identifier.
func (w *world) other(r *rand.Rand, id int) int32 {
	n := 1 + r.IntN(w.size.Users-1)
	if n >= id {
		n++
	}
	return int32(n)
}

// drawFriends has each user draw friends. A pair that is drawn again replaces the earlier one.
func (w *world) drawFriends(r *rand.Rand) {
	w.friends = make([]pairRow, w.size.Users*w.size.Draws)
	order, known, drawn := r.Perm(len(w.friends)), map[pairRow]int{}, 0
	for id := 1; id <= w.size.Users; id++ {
		for range w.size.Draws {
			pair := pairRow{int32(id), w.other(r, id)}
			key := pairRow{min(pair.one, pair.another), max(pair.one, pair.another)}
			if at, twice := known[key]; twice {
				w.friends[at] = pairRow{}
			}
			known[key] = order[drawn]
			w.friends[order[drawn]] = pair
			drawn++
		}
	}
}

func (w *world) drawFootprints(r *rand.Rand) {
	w.footprints = make([]pairRow, w.size.Users*w.size.Footprints)
	for n, at := range r.Perm(len(w.footprints)) {
		id := 1 + n/w.size.Footprints
		w.footprints[at] = pairRow{int32(id), w.other(r, id)}
	}
}

func (w *world) drawEntries(r *rand.Rand) {
	w.entries = make([]entryRow, w.size.Users*w.size.Entries)
	for n, at := range r.Perm(len(w.entries)) {
		w.entries[at] = entryRow{owner: int32(1 + n/w.size.Entries), private: r.IntN(10) == 0, body: uint8(r.IntN(len(entryBodies)))}
	}
}

// drawComments draws comments on the entries of each user. A comment is on an entry that is
// older, if the user has such a one.
func (w *world) drawComments(r *rand.Rand) {
	owned := make([][]int32, w.size.Users+1) // indexes of a user's entries, the oldest first
	for i, e := range w.entries {
		owned[e.owner] = append(owned[e.owner], int32(i))
	}
	w.comments = make([]commentRow, w.size.Users*w.size.Comments)
	for n, at := range r.Perm(len(w.comments)) {
		list := owned[1+n/w.size.Comments]
		target := r.IntN(len(list))
		made := commentTime(w.commentID(at))
		for target > 0 && rowTime(w.entryID(int(list[target]))).After(made) {
			target--
		}
		w.comments[at] = commentRow{entry: int32(w.entryID(int(list[target]))), author: int32(1 + r.IntN(w.size.Users)),
			text: uint8(r.IntN(len(commentTexts)))}
	}
}
