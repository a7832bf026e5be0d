package isuxi

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// slow is the name of the check of how long writes take.
const slow = "too-slow"

func isSlow(err error) bool {
	var f *scenario.Fault
	return errors.As(err, &f) && f.Check == slow
}

// checker makes friends and comments, and looks a second later whether they are there.
func (ct *contest) checker(ctx context.Context) {
	for r := ct.rand("checker"); ctx.Err() == nil; {
		drawn := ct.pick(r, firstChecker, firstActor, 2)
		ct.report(ct.meet(ctx, drawn[0], drawn[1], "remark "+digits(r)))
	}
}

// meet has two users become friends or, if they are, comment.
func (ct *contest) meet(ctx context.Context, one, two *user, text string) error {
	for _, u := range []*user{one, two} {
		if err := u.ensure(ctx, wantRedirect("/")); err != nil {
			return err
		}
	}
	if !ct.pause(ctx, visibleWithin) {
		return ctx.Err()
	}
	known := false
	err := one.get(ctx, stepFriends, "/friends", shown(func(p *page) error { known = p.hasFriend(two); return nil }))
	switch {
	case err != nil:
		return err
	case known:
		return ct.remarkOn(ctx, one, two, text)
	default:
		return ct.becomeFriends(ctx, one, two)
	}
}

// becomeFriends checks that a friendship is in the list of the other user a second later.
func (ct *contest) becomeFriends(ctx context.Context, one, two *user) error {
	if err := two.befriend(ctx, one, inTime(wantRedirect("/friends"))); err != nil {
		return err
	}
	ct.locked(func() { ct.made = append(ct.made, bond{one, two}) })
	if !ct.pause(ctx, visibleWithin) {
		return ctx.Err()
	}
	return one.get(ctx, stepFriends, "/friends", shown(func(p *page) error {
		if !p.hasFriend(two) {
			return p.wrong("friend-visible", "%s is no friend of %s %v after they made friends", two.Account, one.Account, visibleWithin)
		}
		return nil
	}))
}

// remarkOn checks that a comment is on the entry a second later.
func (ct *contest) remarkOn(ctx context.Context, one, two *user, text string) error {
	var entry string
	if err := two.entries(ctx, one, &entry); err != nil {
		return err
	}
	if entry == "" {
		return wrong(stepEntries, "checker-session", "the session of %s is lost", two.Account)
	}
	if err := two.comment(ctx, entry, text, inTime(wantRedirect(entry))); err != nil {
		return err
	}
	ct.locked(func() { ct.remarks = append(ct.remarks, remark{two, entry, text}) })
	if !ct.pause(ctx, visibleWithin) {
		return ctx.Err()
	}
	return one.sees(ctx, entry, text, "comment-visible")
}

// sees checks that an entry has a comment.
func (u *user) sees(ctx context.Context, entry, text, check string) error {
	return u.get(ctx, stepEntry, entry, func(res *scenario.Response) error {
		if res.Status != http.StatusOK {
			return scenario.Wrong(res, check, "status %d", res.Status)
		}
		if !bytes.Contains(res.Body, []byte(text)) {
			return scenario.Wrong(res, check, "the comment %q is not there", text)
		}
		return nil
	})
}

// wrong is a failed check of an answer that is not kept.
func wrong(step scenario.Step, check, format string, args ...any) error {
	f := scenario.Wrong(nil, check, format, args...)
	f.Step = step
	return f
}
