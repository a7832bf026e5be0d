package isuxi

import (
	"context"
	"net/http"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/prechecks"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Prepare initializes the target and checks its answers with users 0, 1 and 2 of the set.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	ct.begin(s)
	return prechecks.Run(ctx, s, checksTimeout, ct.initialize, ct.check)
}

// initialize calls GET /initialize.
func (ct *contest) initialize(ctx context.Context) error {
	r := &scenario.Request{Step: stepInitialize, Path: "/initialize", Timeout: initializeTimeout}
	return ct.users[0].do(ctx, r, func(res *scenario.Response) error { return scenario.WantStatus(res, http.StatusOK) })
}

// A check is one of those before the load. They run one after the other.
type check func(ctx context.Context, me, friend, stranger *user) error

// check is the check of the contest, with further ones against the initial data: first what
// user 0 sees, then what others see, then what they write.
func (ct *contest) check(ctx context.Context) error {
	me, friend, stranger := ct.users[0], ct.users[1], ct.users[2]
	for _, check := range []check{
		ct.checkLogins, ct.checkInitial, ct.checkOthers, ct.checkWrites, ct.checkPrivate, ct.checkVisits, ct.checkFriendship, ct.checkRefusals,
	} {
		if err := check(ctx, me, friend, stranger); err != nil {
			return err
		}
	}
	return nil
}

// checkLogins: pages need a session, which a login gives and a logout takes.
func (ct *contest) checkLogins(ctx context.Context, me, friend, stranger *user) error {
	for _, u := range []*user{friend, stranger} {
		if err := u.arrive(ctx); err != nil {
			return err
		}
	}
	for _, closed := range []struct {
		step scenario.Step
		path string
	}{{stepTop, "/"}, {stepFriends, "/friends"}, {stepFootprints, "/footprints"}, {stepProfile, me.profilePath()}, {stepEntries, me.entriesPath()}} {
		if err := me.get(ctx, closed.step, closed.path, wantRedirect("/login")); err != nil {
			return err
		}
	}
	if err := me.get(ctx, stepLogin, "/login", shown((*page).checkLoginForm)); err != nil {
		return err
	}
	wrong := &user{ct: ct, member: me.member, cl: me.cl}
	wrong.Account += "x"
	if err := wrong.login(ctx, want("login-password", http.StatusUnauthorized)); err != nil {
		return err
	}
	return me.login(ctx, wantRedirect("/"))
}

// checkInitial compares what user 0 sees with the initial data.
func (ct *contest) checkInitial(ctx context.Context, me, _, _ *user) error {
	if err := ct.checkTop(ctx, me); err != nil {
		return err
	}
	if err := ct.checkStyle(ctx, me); err != nil {
		return err
	}
	if err := ct.checkFriends(ctx, me); err != nil {
		return err
	}
	if err := ct.checkFootprints(ctx, me, nil); err != nil {
		return err
	}
	if err := ct.checkEntries(ctx, me, true); err != nil {
		return err
	}
	return ct.checkEntry(ctx, me, ct.set.mostRemarked())
}

// checkOthers: a friend sees the whole profile and all entries, a stranger does not.
func (ct *contest) checkOthers(ctx context.Context, me, friend, stranger *user) error {
	for _, u := range []*user{friend, stranger} {
		if err := u.get(ctx, stepTop, "/", shown(func(p *page) error { return u.checkProfile(p, true) })); err != nil {
			return err
		}
		if err := u.get(ctx, stepProfile, me.profilePath(), shown(func(p *page) error { return ct.checkProfile(p, u == friend) })); err != nil {
			return err
		}
		if err := ct.checkEntries(ctx, u, u == friend); err != nil {
			return err
		}
	}
	return nil
}

// checkProfile checks the profile of user 0 as a friend or a stranger sees it.
func (ct *contest) checkProfile(p *page, friend bool) error {
	if err := ct.users[0].checkProfile(p, friend); err != nil {
		return err
	}
	if form := p.id("profile-friend-form"); (form != nil) == friend {
		return p.wrong("profile-friend-form", "the form to become a friend is there: %v", form != nil)
	}
	if p.id("profile-post-form") != nil {
		return p.wrong("profile-form", "the form of the owner is on the page of another user")
	}
	var got []string
	for _, e := range p.profileEntries() {
		got = append(got, item(e.path, e.title))
	}
	return p.listed("profile-entries", got, ct.set.wantProfileEntries(friend))
}
