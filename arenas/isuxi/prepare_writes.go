package isuxi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// newTitle begins the titles of entries of this run's checks. It has what pages must escape.
const newTitle = "<b>&"

// A draft is the private entry that user 0 writes in the checks.
type draft struct {
	title string
	lines []string
	path  string // found in the list
}

// checkWrites: user 0 comments on the first own entry, writes a private one and changes the
// profile; a second later others see it.
func (ct *contest) checkWrites(ctx context.Context, me, friend, _ *user) error {
	r := ct.rand("writes")
	text, first := digits(r), entryPath(ct.set.Entries[0].ID)
	if err := me.comment(ctx, first, text, wantRedirect(first)); err != nil {
		return err
	}
	ct.draft = draft{title: newTitle + digits(r)}
	for range 3 {
		ct.draft.lines = append(ct.draft.lines, digits(r)+digits(r))
	}
	if err := me.write(ctx, ct.draft.title, strings.Join(ct.draft.lines, "\n"), true, wantRedirect(me.entriesPath())); err != nil {
		return err
	}
	birthday := fmt.Sprintf("%d-%02d-%02d", 1970+r.IntN(45), 1+r.IntN(12), 1+r.IntN(28))
	form := url.Values{"first_name": {me.First}, "last_name": {me.Last}, "sex": {me.Sex}, "pref": {me.Pref}, "birthday": {birthday}}
	if err := me.post(ctx, stepPostProfile, me.profilePath(), form, wantRedirect(me.profilePath())); err != nil {
		return err
	}
	if !ct.pause(ctx, visibleWithin) {
		return ctx.Err()
	}
	err := me.get(ctx, stepProfile, me.profilePath(), shown(func(p *page) error {
		if got := p.fact("birthday"); got != birthday || p.id("profile-post-form") == nil {
			return p.wrong("profile-update", "the birthday is %.40q after it was set to %s, or there is no form", got, birthday)
		}
		return me.checkProfile(p, true)
	}))
	if err != nil {
		return err
	}
	return friend.get(ctx, stepTop, "/", shown(func(p *page) error {
		names := me.Nick + honorific + " to " + me.Nick + honorific
		for _, row := range p.friendComments() {
			if strings.HasPrefix(row, item(names, text)) {
				return nil
			}
		}
		return p.wrong("friend-comment", "the comment %s of a friend is not there", text)
	}))
}

// checkPrivate: the friend sees the private entry, the stranger does not.
func (ct *contest) checkPrivate(ctx context.Context, me, friend, stranger *user) error {
	if err := friend.get(ctx, stepEntries, me.entriesPath(), shown(ct.findDraft)); err != nil {
		return err
	}
	if err := friend.get(ctx, stepEntry, ct.draft.path, shown(ct.checkDraft)); err != nil {
		return err
	}
	err := stranger.get(ctx, stepEntries, me.entriesPath(), shown(func(p *page) error {
		if slices.ContainsFunc(p.entries(), func(e shownEntry) bool { return e.title == ct.draft.title || e.private }) {
			return p.wrong("private-listed", "a stranger sees a private entry in the list")
		}
		return nil
	}))
	if err != nil {
		return err
	}
	if err := stranger.get(ctx, stepEntry, ct.draft.path, want("private-shown", http.StatusForbidden)); err != nil {
		return err
	}
	return stranger.comment(ctx, ct.draft.path, "x", want("private-comment", http.StatusForbidden))
}

// findDraft looks for the private entry in the list of its author, where it is the newest.
func (ct *contest) findDraft(p *page) error {
	list := p.entries()
	if len(list) != min(pageEntries, len(ct.set.Entries)+1) || list[0].title != ct.draft.title || !list[0].private {
		return p.wrong("private-missing", "the newest of %d entries is not the private one of just now", len(list))
	}
	ct.draft.path = list[0].path
	return nil
}

// checkDraft checks the page of the private entry.
func (ct *contest) checkDraft(p *page) error {
	got := readEntry(p.id("entry-entry"))
	if got.title != ct.draft.title || !slices.Equal(got.lines, ct.draft.lines) || !got.private {
		return p.wrong("draft-content", "entry %.100q of %d lines, want %q of %d", got.title, len(got.lines), ct.draft.title, len(ct.draft.lines))
	}
	return nil
}

// checkVisits: both visitors have left one footprint of today each. In a run over midnight
// they may have left two, and nothing is checked.
func (ct *contest) checkVisits(ctx context.Context, me, friend, stranger *user) error {
	if today() != ct.day {
		return nil
	}
	visitors := []string{friend.profilePath(), stranger.profilePath()}
	slices.Sort(visitors)
	return ct.checkFootprints(ctx, me, visitors)
}

// checkFriendship: user 0 makes the stranger a friend, who then sees what friends see.
func (ct *contest) checkFriendship(ctx context.Context, me, _, stranger *user) error {
	if err := me.befriend(ctx, stranger, wantRedirect("/friends")); err != nil {
		return err
	}
	if !ct.pause(ctx, visibleWithin) {
		return ctx.Err()
	}
	for _, see := range []struct{ u, other *user }{{me, stranger}, {stranger, me}} {
		err := see.u.get(ctx, stepFriends, "/friends", shown(func(p *page) error {
			if !p.hasFriend(see.other) {
				return p.wrong("friend-listed", "the new friend %s is not in the list of %d", see.other.Account, len(p.friends()))
			}
			return nil
		}))
		if err != nil {
			return err
		}
	}
	if err := me.get(ctx, stepTop, "/", shown(func(p *page) error { return p.checkCounter(len(ct.set.Friends) + 1) })); err != nil {
		return err
	}
	if err := stranger.get(ctx, stepEntries, me.entriesPath(), shown(ct.findDraft)); err != nil {
		return err
	}
	return stranger.get(ctx, stepEntry, ct.draft.path, shown(ct.checkDraft))
}

// hasFriend reports whether a user is on the page of friends.
func (p *page) hasFriend(other *user) bool {
	return slices.ContainsFunc(p.friends(), func(row string) bool { return strings.HasSuffix(row, item("", other.profilePath(), other.Nick)) })
}

// The data has neither an account named nobody_0 nor an entry with noEntry's id.
const (
	nobody  = "nobody_0"
	noEntry = "/diary/entry/99999999"
)

// checkRefusals: what is not there is 404, and another user's profile cannot be changed. To
// make friends again changes nothing. A logout ends the session.
func (ct *contest) checkRefusals(ctx context.Context, me, friend, stranger *user) error {
	for _, r := range []struct {
		step scenario.Step
		path string
	}{{stepProfile, "/profile/" + nobody}, {stepEntries, "/diary/entries/" + nobody}, {stepEntry, noEntry}} {
		if err := me.get(ctx, r.step, r.path, want("missing", http.StatusNotFound)); err != nil {
			return err
		}
	}
	if err := me.comment(ctx, noEntry, "x", want("missing", http.StatusNotFound)); err != nil {
		return err
	}
	none := &user{ct: ct, member: member{person: person{Account: nobody}}}
	if err := me.befriend(ctx, none, want("missing", http.StatusNotFound)); err != nil {
		return err
	}
	form := url.Values{"first_name": {"x"}, "last_name": {"x"}, "sex": {me.Sex}, "pref": {me.Pref}, "birthday": {"2000-01-01"}}
	if err := friend.post(ctx, stepPostProfile, me.profilePath(), form, want("profile-foreign", http.StatusForbidden)); err != nil {
		return err
	}
	if err := stranger.befriend(ctx, me, want("friend-again", http.StatusOK)); err != nil {
		return err
	}
	if err := me.write(ctx, "", digits(ct.rand("untitled")), false, wantRedirect(me.entriesPath())); err != nil {
		return err
	}
	err := me.get(ctx, stepEntries, me.entriesPath(), shown(func(p *page) error {
		if slices.ContainsFunc(p.entries(), func(e shownEntry) bool { return e.title == "" }) {
			return p.wrong("untitled", "an entry without a title has none in the list")
		}
		return nil
	}))
	if err != nil {
		return err
	}
	if err := me.get(ctx, stepLogout, "/logout", wantRedirect("/login")); err != nil {
		return err
	}
	return me.get(ctx, stepTop, "/", wantRedirect("/login"))
}
