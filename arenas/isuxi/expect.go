package isuxi

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Lengths of the lists of the site.
const (
	topEntries    = 5
	topRows       = 10
	pageEntries   = 20
	allFootprints = 50
)

func entryPath(id int) string { return fmt.Sprintf("/diary/entry/%d", id) }

func (d *dataset) person(id int) account     { return d.People[id-1] }
func (d *dataset) profilePath(id int) string { return "/profile/" + d.person(id).Account }
func (d *dataset) entriesPath(id int) string { return "/diary/entries/" + d.person(id).Account }

// title is the first line of a body; the content is the rest.
func title(body int) string {
	first, _, _ := strings.Cut(entryBodies[body], "\n")
	return first
}

func content(body int) []string {
	_, rest, _ := strings.Cut(entryBodies[body], "\n")
	return strings.Split(rest, "\n")
}

// knows returns the friends of user 0 of a set.
func (s *userSet) knows() map[int]bool {
	known := map[int]bool{}
	for _, f := range s.Friends {
		known[f.User] = true
	}
	return known
}

// wantOwnEntries are the oldest entries of user 0, as the top page has them.
func (s *userSet) wantOwnEntries() (rows []string) {
	for _, e := range s.Entries[:min(topEntries, len(s.Entries))] {
		rows = append(rows, item(entryPath(e.ID), title(e.Body)))
	}
	return rows
}

// wantFootprints are the newest footprints of user 0, one for each visitor and day.
func (d *dataset) wantFootprints(s *userSet, form string, most int) (rows []string) {
	type visit struct {
		visitor int
		day     string
	}
	seen := map[visit]bool{}
	for _, f := range s.Footprints {
		at := rowTime(f.ID).In(tokyo)
		v := visit{f.Visitor, at.Format(time.DateOnly)}
		if !seen[v] && len(rows) < most {
			seen[v] = true
			rows = append(rows, item(at.Format(form), d.profilePath(f.Visitor)))
		}
	}
	return rows
}

// wantComments are the newest comments on the entries of user 0.
func (d *dataset) wantComments(s *userSet) (rows []string) {
	for _, c := range slices.Backward(s.Comments) {
		if len(rows) < topRows {
			rows = append(rows, item(d.profilePath(c.Author), shorten(commentTexts[c.Text]), datetime(commentTime(c.ID))))
		}
	}
	return rows
}

// wantFriendEntries are the newest entries of friends of user 0.
func (d *dataset) wantFriendEntries(s *userSet) (rows []string) {
	known := s.knows()
	for _, e := range d.Entries {
		if known[e.Owner] && len(rows) < topRows {
			rows = append(rows, item(d.entriesPath(e.Owner), entryPath(e.ID), title(e.Body), datetime(rowTime(e.ID))))
		}
	}
	return rows
}

// wantFriendComments returns the newest comments by friends of user 0. It leaves out comments
// on entries that user 0 may not see.
func (d *dataset) wantFriendComments(s *userSet) (rows []string) {
	known := s.knows()
	for _, c := range d.Comments {
		if !known[c.Author] || c.hidden(s, known) || len(rows) == topRows {
			continue
		}
		names := d.person(c.Author).Nick + honorific + " to " + d.person(c.Owner).Nick + honorific
		rows = append(rows, item(names, shorten(commentTexts[c.Text]), datetime(commentTime(c.ID))))
	}
	return rows
}

// wantFriends are the friends of user 0, sorted.
func (d *dataset) wantFriends(s *userSet) (rows []string) {
	for _, f := range s.Friends {
		rows = append(rows, item(datetime(rowTime(f.Relation)), d.profilePath(f.User), d.person(f.User).Nick))
	}
	slices.Sort(rows)
	return rows
}

// wantEntries are the newest entries of user 0, with the private ones or without.
func (s *userSet) wantEntries(all bool) (list []shownEntry) {
	comments := map[int]int{}
	for _, c := range s.Comments {
		comments[c.Entry]++
	}
	for _, e := range slices.Backward(s.Entries) {
		if (all || !e.Private) && len(list) < pageEntries {
			list = append(list, shownEntry{path: entryPath(e.ID), title: title(e.Body), created: datetime(rowTime(e.ID)), private: e.Private,
				comments: comments[e.ID], lines: content(e.Body)})
		}
	}
	return list
}

// mostRemarked is the entry of user 0 with the most comments.
func (s *userSet) mostRemarked() (most ownEntry) {
	comments, best := map[int]int{}, -1
	for _, c := range s.Comments {
		comments[c.Entry]++
	}
	for _, e := range s.Entries {
		if comments[e.ID] > best {
			most, best = e, comments[e.ID]
		}
	}
	return most
}

// wantRemarks are the comments on an entry of user 0.
func (d *dataset) wantRemarks(s *userSet, entry int) (rows []string) {
	for _, c := range s.Comments {
		if c.Entry == entry {
			text := strings.ReplaceAll(commentTexts[c.Text], "\n", "/")
			rows = append(rows, item(d.profilePath(c.Author), text, datetime(commentTime(c.ID))))
		}
	}
	return rows
}

// wantProfileEntries are the oldest entries of user 0, as the page of the profile has them.
func (s *userSet) wantProfileEntries(all bool) (rows []string) {
	for _, e := range s.Entries {
		if (all || !e.Private) && len(rows) < topEntries {
			rows = append(rows, item(entryPath(e.ID), title(e.Body)))
		}
	}
	return rows
}
