package isuxi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

const (
	sets       = 20
	setMembers = 30
	window     = 1000 // rows among which the top page looks for those of friends
)

// A dataset is the benchmarker's copy of the initial data: what it checks.
type dataset struct {
	People   []account
	Entries  []windowEntry   // the newest ones of all users, the newest first
	Comments []windowComment // likewise
	Sets     []userSet
}

// An account is a user as other ones see it. Its identifier is its index and one.
type account struct{ Account, Nick string }

type windowEntry struct{ ID, Owner, Body int }

// A windowComment has also the owner of its entry.
type windowComment struct {
	ID, Author, Text, Owner int
	Private                 bool // the entry
}

// A userSet are the users of a run: User 0 is a friend of user 1 and none of user 2; what
// belongs to user 0 is listed.
type userSet struct {
	Users      []member
	Friends    []friendRow
	Footprints []footprintRow // the newest first
	Entries    []ownEntry     // the oldest first
	Comments   []ownComment   // on the entries, the oldest first
}

// A member is a user of a set, with its profile.
type member struct {
	ID int
	person
}

// A friendRow is a friend, and the identifier that the time of the friendship is of.
type friendRow struct{ User, Relation int }

type footprintRow struct{ ID, Visitor int }

type ownEntry struct {
	ID, Body int
	Private  bool
}

type ownComment struct{ ID, Entry, Author, Text int }

// dataset picks what the benchmarker checks.
func (w *world) dataset() *dataset {
	d := new(dataset)
	for _, p := range w.people {
		d.People = append(d.People, account{p.Account, p.Nick})
	}
	for i := len(w.entries) - 1; i >= max(0, len(w.entries)-window); i-- {
		d.Entries = append(d.Entries, windowEntry{w.entryID(i), int(w.entries[i].owner), int(w.entries[i].body)})
	}
	for i := len(w.comments) - 1; i >= max(0, len(w.comments)-window); i-- {
		c := w.comments[i]
		e := w.entries[int(c.entry)-w.entryID(0)]
		d.Comments = append(d.Comments, windowComment{w.commentID(i), int(c.author), int(c.text), int(e.owner), e.private})
	}
	for r := rand.New(rand.NewPCG(dataSeed, 6)); len(d.Sets) < sets; {
		if s := w.drawSet(r); d.telling(&s) {
			d.Sets = append(d.Sets, s)
		}
	}
	return d
}

// telling reports whether the pages of user 0 show to whom private entries are shown: there
// is one among the oldest and among the newest of user 0, and among those that friends
// commented on.
func (d *dataset) telling(s *userSet) bool {
	private := func(e ownEntry) bool { return e.Private }
	oldest, newest := s.Entries[:topEntries], s.Entries[max(0, len(s.Entries)-pageEntries):]
	known, shown, hidden := s.knows(), 0, 0
	for _, c := range d.Comments {
		if known[c.Author] && shown < topRows {
			hidden += bit(c.hidden(s, known))
			shown += bit(!c.hidden(s, known))
		}
	}
	return slices.ContainsFunc(oldest, private) && slices.ContainsFunc(newest, private) && hidden > 0
}

// hidden reports whether user 0 may not see the entry of a comment.
func (c *windowComment) hidden(s *userSet, known map[int]bool) bool {
	return c.Private && c.Owner != s.Users[0].ID && !known[c.Owner]
}

// drawSet draws the users of a run.
func (w *world) drawSet(r *rand.Rand) userSet {
	for {
		ids := r.Perm(w.size.Users)[:setMembers]
		for i := range ids {
			ids[i]++
		}
		s := w.rowsOf(ids[0])
		friends := map[int]bool{}
		for _, f := range s.Friends {
			friends[f.User] = true
		}
		if len(friends) == 0 || friends[ids[2]] {
			continue
		}
		friend := s.Friends[r.IntN(len(s.Friends))].User
		for i, id := range ids {
			if id == friend {
				ids[i] = ids[1]
			}
		}
		if ids[1] = friend; friends[ids[2]] {
			continue
		}
		for _, id := range ids {
			s.Users = append(s.Users, member{id, w.people[id-1]})
		}
		return s
	}
}

// rowsOf lists what belongs to a user.
func (w *world) rowsOf(id int) (s userSet) {
	for i, p := range w.friends {
		switch id {
		case int(p.one):
			s.Friends = append(s.Friends, friendRow{int(p.another), w.relationID(i)})
		case int(p.another):
			s.Friends = append(s.Friends, friendRow{int(p.one), w.relationID(i)})
		}
	}
	for i := len(w.footprints) - 1; i >= 0; i-- {
		if int(w.footprints[i].one) == id {
			s.Footprints = append(s.Footprints, footprintRow{w.footprintID(i), int(w.footprints[i].another)})
		}
	}
	for i, e := range w.entries {
		if int(e.owner) == id {
			s.Entries = append(s.Entries, ownEntry{w.entryID(i), int(e.body), e.private})
		}
	}
	for i, c := range w.comments {
		if int(w.entries[int(c.entry)-w.entryID(0)].owner) == id {
			s.Comments = append(s.Comments, ownComment{w.commentID(i), int(c.entry), int(c.author), int(c.text)})
		}
	}
	return s
}

// readDataset reads the benchmarker's copy from the folder that Generate wrote.
func readDataset(folder string) (*dataset, error) {
	text, err := os.ReadFile(filepath.Join(folder, datasetFile))
	if err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	d := new(dataset)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	for _, s := range d.Sets {
		if len(s.Users) != setMembers {
			return nil, fmt.Errorf("reading the initial data: a set of %d users", len(s.Users))
		}
	}
	if len(d.Sets) != sets {
		return nil, fmt.Errorf("reading the initial data: %d sets of users", len(d.Sets))
	}
	return d, nil
}
