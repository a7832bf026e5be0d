package isuxi

import (
	"context"
	"net/http"
	"slices"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Rows of the load that are compared after it.
const (
	// sureEntries is how many of a user's newest entries must be among the 20 of the list:
	// those of one second have any order, and the end of the load leaves some without answer.
	sureEntries = 5
	sureRemarks = 30
)

// Validate compares what users read with what the target has acknowledged during the load.
func (ct *contest) Validate(ctx context.Context, _ scenario.Session) error {
	for _, u := range ct.users[firstChecker:] {
		if err := u.login(ctx, wantRedirect("/")); err != nil { // another thread may have logged it out
			return err
		}
	}
	if err := ct.checkStoredEntries(ctx); err != nil {
		return err
	}
	for _, r := range ct.remarks[max(0, len(ct.remarks)-sureRemarks):] {
		if err := r.by.sees(ctx, r.entry, r.text, "stored-comments"); err != nil {
			return err
		}
	}
	return ct.checkStoredFriends(ctx)
}

// checkStoredEntries looks for the newest entries of each user.
func (ct *contest) checkStoredEntries(ctx context.Context) error {
	for _, u := range ct.users[firstActor:] {
		var titles []string
		for _, e := range ct.entries {
			if e.by == u {
				titles = append(titles, e.title)
			}
		}
		if len(titles) == 0 {
			continue
		}
		err := u.get(ctx, stepEntries, u.entriesPath(), shown(func(p *page) error {
			list := p.entries()
			for _, title := range titles[max(0, len(titles)-sureEntries):] {
				if !slices.ContainsFunc(list, func(e shownEntry) bool { return e.title == title }) {
					return p.wrong("stored-entries", "the entry %q is not among the newest %d", title, len(list))
				}
			}
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkStoredFriends looks for the friendships that the checker made.
func (ct *contest) checkStoredFriends(ctx context.Context) error {
	others := map[*user][]*user{}
	for _, b := range ct.made {
		others[b.one] = append(others[b.one], b.another)
		others[b.another] = append(others[b.another], b.one)
	}
	for u, list := range others {
		err := u.get(ctx, stepFriends, "/friends", func(res *scenario.Response) error {
			if res.Status != http.StatusOK {
				return scenario.Wrong(res, "stored-friends", "status %d", res.Status)
			}
			return shown(func(p *page) error {
				for _, other := range list {
					if !p.hasFriend(other) {
						return p.wrong("stored-friends", "%s is no friend of %s any more", other.Account, u.Account)
					}
				}
				return nil
			})(res)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
