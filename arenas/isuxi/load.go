package isuxi

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Users of the load: those of the checker begin at firstChecker, those of the threads at
// firstActor.
const (
	firstChecker = 3
	firstActor   = 10
	threads      = 4
)

// Load runs four threads, each a closed loop of one request after the other, and the
// checker beside them.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	ct.tally = new(tally) // without the checks
	s.Gauge("offered work (digest)", "", ct.work())
	for i := range threads {
		if !ct.part.Owns(i) {
			continue
		}
		s.Go("thread", func(ctx context.Context) {
			for r := ct.rand(fmt.Sprintf("thread %d", i)); ctx.Err() == nil; {
				ct.report(ct.iterate(ctx, r))
			}
		})
	}
	if ct.part.First() {
		s.Go("checker", ct.checker)
	}
	<-ctx.Done()
	s.Gauge("requests", "", float64(ct.tally.requests.Load()))
	return ct.tally.verdict()
}

// report counts an error. An answer of class 5 and a slow write cost points; any other error
// fails the run, as in the contest.
func (ct *contest) report(err error) {
	switch kind := scenario.KindOf(err); {
	case err == nil || kind == iikanji.FaultCut:
	case kind == iikanji.FaultStatus || kind == iikanji.FaultTimeout && isSlow(err):
		ct.s.Report(err)
	default:
		ct.s.Report(err) // its points
		ct.s.Fail(err)
	}
}

// work returns a digest of the work that the seed offers.
func (ct *contest) work() float64 {
	h := fnv.New32a()
	fmt.Fprintln(h, ct.users[0].Account)
	for i := range threads {
		r := ct.rand(fmt.Sprintf("thread %d", i))
		for range 20 {
			for _, u := range ct.pick(r, firstActor, setMembers, 3) {
				fmt.Fprintln(h, u.Account)
			}
		}
	}
	return float64(h.Sum32())
}

// pick draws different users out of a part of the set.
func (ct *contest) pick(r *rand.Rand, from, to, n int) []*user {
	picked := make([]*user, n)
	for i, k := range r.Perm(to - from)[:n] {
		picked[i] = ct.users[from+k]
	}
	return picked
}

var entryLink = regexp.MustCompile(`href="(/diary/entry/\d+)"`)

// A visit is one turn of a thread: user one visits user two, who then looks around.
type visit struct {
	ct              *contest
	r               *rand.Rand
	one, two, three *user
	entry           string // path of the newest entry of user two that user one sees; "" for none
}

// turn draws the users of a turn. The users of a sharded run are divided among the generators, as
// each has sessions of its own.
func (ct *contest) turn(r *rand.Rand) (users []*user) {
	if ct.part.Of < 2 {
		return ct.pick(r, firstActor, setMembers, 3)
	}
	for _, i := range r.Perm(setMembers - firstActor) {
		if ct.part.Owns(i) && len(users) < 3 {
			users = append(users, ct.users[firstActor+i])
		}
	}
	return users
}

// iterate is one turn. It ends where the contest's tested its deadline, or at an error.
func (ct *contest) iterate(ctx context.Context, r *rand.Rand) error {
	drawn := ct.turn(r)
	v := &visit{ct: ct, r: r, one: drawn[0], two: drawn[1], three: drawn[2]}
	for _, part := range []func(context.Context) error{v.begin, v.comments, v.returns, v.looksAround, v.readsEntry, v.writes} {
		if err := part(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// all runs requests one after the other.
func all(requests ...func() error) error {
	for _, send := range requests {
		if err := send(); err != nil {
			return err
		}
	}
	return nil
}

// begin logs user one out and in.
func (v *visit) begin(ctx context.Context) error {
	return all(
		func() error { return v.one.get(ctx, stepLogout, "/logout", isRedirect) },
		func() error { return v.one.get(ctx, stepLogin, "/login", ignore) },
		func() error { return v.one.login(ctx, isRedirect) },
		func() error { return v.one.top(ctx, nil) },
	)
}

// comments has user one visit user two and comment on an entry.
func (v *visit) comments(ctx context.Context) error {
	text := "comment " + digits(v.r)
	return all(
		func() error { return v.one.profile(ctx, v.two) },
		func() error { return v.one.entries(ctx, v.two, &v.entry) },
		func() error {
			if v.entry == "" {
				return nil // another thread has logged user one out
			}
			if err := v.one.get(ctx, stepEntry, v.entry, ignore); err != nil {
				return err
			}
			return v.one.comment(ctx, v.entry, text, inTime(func(res *scenario.Response) error {
				if err := isRedirect(res); err != nil {
					return err
				}
				if strings.HasSuffix(res.Get("location"), v.entry) {
					v.ct.locked(func() { v.ct.remarks = append(v.ct.remarks, remark{v.one, v.entry, text}) })
				}
				return nil
			}))
		},
	)
}

// returns has user two see the top page, after a login if need be.
func (v *visit) returns(ctx context.Context) error { return v.two.ensure(ctx, nil) }

// ensure gets the top page. Without a session it logs in and gets the page again. check tests
// the answer to the login; nil accepts any answer.
func (u *user) ensure(ctx context.Context, check func(res *scenario.Response) error) error {
	in := false
	if err := u.top(ctx, &in); err != nil || in {
		return err
	}
	if check == nil {
		check = ignore
	}
	return all(
		func() error { return u.get(ctx, stepLogin, "/login", ignore) },
		func() error { return u.login(ctx, check) },
		func() error { return u.top(ctx, nil) },
	)
}

// looksAround has user two read own pages.
func (v *visit) looksAround(ctx context.Context) error {
	return all(
		func() error { return v.two.get(ctx, stepFriends, "/friends", has("load-friends", `href="/profile/`)) },
		func() error { return v.two.top(ctx, nil) },
		func() error {
			return v.two.get(ctx, stepFootprints, "/footprints", has("load-footprints", "footprints-footprint"))
		},
		func() error { return v.two.entries(ctx, v.two, nil) },
	)
}

// readsEntry has both users read the entry.
func (v *visit) readsEntry(ctx context.Context) error {
	if v.entry == "" {
		return nil
	}
	return all(
		func() error { return v.two.get(ctx, stepEntry, v.entry, has("load-entry", `id="entry-entry"`)) },
		func() error { return v.one.get(ctx, stepEntry, v.entry, has("load-entry", `id="entry-entry"`)) },
	)
}

// writes has user two write an entry of up to three lines, half of them private.
func (v *visit) writes(ctx context.Context) error {
	title, private := "entry "+digits(v.r), v.r.IntN(2) == 0
	lines := make([]string, v.r.IntN(4))
	for i := range lines {
		lines[i] = digits(v.r)
	}
	return all(
		func() error { return v.two.profile(ctx, v.two) },
		func() error {
			return v.two.write(ctx, title, strings.Join(lines, "\n"), private, inTime(func(res *scenario.Response) error {
				if err := isRedirect(res); err != nil {
					return err
				}
				if strings.HasSuffix(res.Get("location"), v.two.entriesPath()) {
					v.ct.locked(func() { v.ct.entries = append(v.ct.entries, posted{v.two, title}) })
				}
				return nil
			}))
		},
		func() error { return v.two.entries(ctx, v.two, nil) },
		func() error { return v.two.profile(ctx, v.three) },
	)
}

// has checks that a page has a text, if the user is logged in.
func has(check, text string) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		if res.Status == http.StatusOK && !bytes.Contains(res.Body, []byte(text)) {
			return scenario.Wrong(res, check, "the page has no %q", text)
		}
		return nil
	}
}

// top gets the top page, which must be that of the user. in is set if the user is logged in.
func (u *user) top(ctx context.Context, in *bool) error {
	return u.get(ctx, stepTop, "/", func(res *scenario.Response) error {
		if in != nil {
			*in = res.Status == http.StatusOK
		}
		return has("load-top", u.Email)(res)
	})
}

// profile gets the profile of another user, which must be the right one.
func (u *user) profile(ctx context.Context, other *user) error {
	return u.get(ctx, stepProfile, other.profilePath(), has("load-profile", other.entriesPath()))
}

// entries gets the entries of another user and finds the newest one.
func (u *user) entries(ctx context.Context, other *user, newest *string) error {
	return u.get(ctx, stepEntries, other.entriesPath(), func(res *scenario.Response) error {
		m := entryLink.FindSubmatch(res.Body)
		if m == nil && res.Status == http.StatusOK {
			return scenario.Wrong(res, "load-entries", "the page has no entry")
		}
		if m != nil && newest != nil {
			*newest = string(m[1])
		}
		return nil
	})
}
