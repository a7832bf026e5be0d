package isuxi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkTop compares the top page of user 0 with the initial data.
func (ct *contest) checkTop(ctx context.Context, u *user) error {
	d, s := ct.data, ct.set
	return u.get(ctx, stepTop, "/", shown(func(p *page) error {
		if err := u.checkProfile(p, true); err != nil {
			return err
		}
		if err := p.checkCounter(len(s.Friends)); err != nil {
			return err
		}
		if got := link(p.id("entries-title")); got != u.entriesPath() {
			return p.wrong("top-title", "the entries lead to %.100q, want %s", got, u.entriesPath())
		}
		for _, list := range []struct {
			check     string
			got, want []string
		}{
			{"top-entries", p.ownEntries(), s.wantOwnEntries()},
			{"top-footprints", p.footprints(time.DateOnly), d.wantFootprints(s, time.DateOnly, topRows)},
			{"top-comments", p.comments(), d.wantComments(s)},
			{"top-friend-entries", p.friendEntries(), d.wantFriendEntries(s)},
			{"top-friend-comments", p.friendComments(), d.wantFriendComments(s)},
		} {
			if err := p.listed(list.check, list.got, list.want); err != nil {
				return err
			}
		}
		return nil
	}))
}

// checkCounter checks the number of friends on the top page.
func (p *page) checkCounter(friends int) error {
	n := p.id("prof-friends")
	if got, want := words(n), strconv.Itoa(friends)+counter; got != want || link(n) != "/friends" {
		return p.wrong("top-friends", "friends %.40q with a link to %.40q, want %q and /friends", got, link(n), want)
	}
	return nil
}

// checkProfile checks the rows of a profile. Only those who may see all see more than the
// name. The birthday was changed by earlier runs, so only its form counts.
func (u *user) checkProfile(p *page, all bool) error {
	want := map[string]string{"account-name": u.Account, "last-name": u.Last, "first-name": u.First}
	for name, value := range map[string]string{"email": u.Email, "sex": u.Sex, "pref": u.Pref} {
		if want[name] = ""; all {
			want[name] = value
		}
	}
	for name, value := range want {
		if got := p.fact(name); got != value {
			return p.wrong("profile-fields", "%s is %.100q, want %q", name, got, value)
		}
	}
	if _, err := time.Parse(time.DateOnly, p.fact("birthday")); (err == nil) != all {
		return p.wrong("profile-birthday", "birthday %.40q, to be shown: %v", p.fact("birthday"), all)
	}
	return nil
}

// checkFriends compares the list of friends of user 0 with the initial data.
func (ct *contest) checkFriends(ctx context.Context, u *user) error {
	return u.get(ctx, stepFriends, "/friends", shown(func(p *page) error {
		return p.listed("friends-list", p.friends(), ct.data.wantFriends(ct.set))
	}))
}

// checkFootprints compares the footprints of user 0: the rows of this run, which are today,
// come first, and the rows of the initial data follow.
func (ct *contest) checkFootprints(ctx context.Context, u *user, today []string) error {
	return u.get(ctx, stepFootprints, "/footprints", shown(func(p *page) error {
		got := p.footprints(time.DateTime)
		if len(got) < len(today) {
			return p.wrong("footprints-today", "%d rows, of today alone there are %d", len(got), len(today))
		}
		var paths []string
		for _, row := range got[:len(today)] {
			at, path, _ := strings.Cut(row, " | ")
			made, err := time.ParseInLocation(time.DateTime, at, tokyo)
			if err != nil || time.Since(made).Abs() > checksTimeout {
				return p.wrong("footprints-today", "a visit of just now is of %.40q", at)
			}
			paths = append(paths, path)
		}
		if slices.Sort(paths); !slices.Equal(paths, today) {
			return p.wrong("footprints-today", "visitors of today are %.200q, want %q", paths, today)
		}
		return p.listed("footprints-list", got[len(today):], ct.data.wantFootprints(ct.set, time.DateTime, allFootprints-len(today)))
	}))
}

// checkEntries compares the list of entries of user 0 with the initial data. Only those who
// may see all see the private ones.
func (ct *contest) checkEntries(ctx context.Context, u *user, all bool) error {
	return u.get(ctx, stepEntries, ct.users[0].entriesPath(), shown(func(p *page) error {
		if form := p.id("entry-post-form"); (form != nil) != (u == ct.users[0]) {
			return p.wrong("entries-form", "the form for an entry is there: %v", form != nil)
		}
		return p.checkEntries(ct.set.wantEntries(all))
	}))
}

// checkEntries compares the entries of a page.
func (p *page) checkEntries(want []shownEntry) error {
	describe := func(list []shownEntry) (rows []string) {
		for _, e := range list {
			rows = append(rows, item(e.path, e.title, fmt.Sprintf("private %v", e.private), e.created))
		}
		return rows
	}
	got := p.entries()
	if err := p.listed("entries-list", describe(got), describe(want)); err != nil {
		return err
	}
	for i, e := range want {
		if got[i].comments != e.comments {
			return p.wrong("entries-comments", "entry %s has %d comments, want %d", e.path, got[i].comments, e.comments)
		}
		if !slices.Equal(got[i].lines, e.lines) {
			return p.wrong("entries-content", "entry %s has %d lines, want %d, or others", e.path, len(got[i].lines), len(e.lines))
		}
	}
	return nil
}

// checkEntry compares an entry of user 0 and its comments with the initial data.
func (ct *contest) checkEntry(ctx context.Context, u *user, e ownEntry) error {
	return u.get(ctx, stepEntry, entryPath(e.ID), shown(func(p *page) error {
		got := readEntry(p.id("entry-entry"))
		if got.title != title(e.Body) || got.private != e.Private || got.created != datetime(rowTime(e.ID)) {
			return p.wrong("entry-fields", "entry %.100q of %s, private %v", got.title, got.created, got.private)
		}
		if !slices.Equal(got.lines, content(e.Body)) {
			return p.wrong("entry-content", "%d lines, want %d, or others", len(got.lines), len(content(e.Body)))
		}
		return p.listed("entry-comments", p.remarks(), ct.data.wantRemarks(ct.set, e.ID))
	}))
}

// checkStyle compares the style sheet, whose length must be stated.
func (ct *contest) checkStyle(ctx context.Context, u *user) error {
	return u.get(ctx, stepStatic, stylePath, func(res *scenario.Response) error {
		if err := scenario.WantStatus(res, http.StatusOK); err != nil {
			return err
		}
		if got := res.Get("content-length"); got != strconv.Itoa(styleBytes) {
			return scenario.Wrong(res, "style-length", "Content-Length is %.20q, want %d", got, styleBytes)
		}
		return checkStyleBytes(res)
	})
}
