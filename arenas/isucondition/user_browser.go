package isucondition

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A browser models one user's browser: cookies, a private cache, and the set of
// cached bodies already found right, so that no bytes are hashed twice.
type browser struct {
	ct *contest
	cl scenario.Client

	mu   sync.Mutex
	sure map[string]bool // key: path; the cached bytes are known to be right
}

// browser opens a new browser. With timeout 0 it uses the timeout of the load
// phase.
func (ct *contest) browser(timeout time.Duration) *browser {
	cl := ct.s.NewClient(scenario.ClientOptions{Cache: true, Gzip: true, Timeout: timeout, UserAgent: "iikanji-browser/1"})
	return &browser{ct: ct, cl: cl, sure: map[string]bool{}}
}

// forget empties the browser, like a new profile.
func (b *browser) forget() {
	b.cl.Forget()
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.sure)
}

func (b *browser) isSure(path string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sure[path]
}

// beSure records the result of a check of a path's answer. Only an answer that was
// right is trusted when it returns from the cache.
func (b *browser) beSure(path string, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.sure[path] = true
	} else {
		delete(b.sure, path)
	}
	return err
}

// get sends a GET and passes the answer to check.
func (b *browser) get(ctx context.Context, step scenario.Step, path string, check func(res *scenario.Response) error) error {
	return b.do(ctx, &scenario.Request{Step: step, Path: path}, check)
}

// post sends a POST without a body.
func (b *browser) post(ctx context.Context, step scenario.Step, path string, check func(res *scenario.Response) error) error {
	return b.do(ctx, &scenario.Request{Step: step, Method: http.MethodPost, Path: path}, check)
}

func (b *browser) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	res, err := b.cl.Do(ctx, r)
	if err != nil {
		return err
	}
	defer res.Release()
	return check(res)
}

// landing loads a page of the application and its assets in the order of a real
// browser: first the page, then everything that it refers to at once.
func (b *browser) landing(ctx context.Context, path string) error {
	assets := b.ct.world.data.Assets
	err := b.get(ctx, stepPage, path, func(res *scenario.Response) error {
		return b.beSure(path, checkPageOnce(res, assets, b.isSure(path)))
	})
	if err != nil {
		return err
	}
	return together(len(assets), func(i int) error {
		a := assets[i]
		if a.Path == "/" {
			return nil
		}
		return b.get(ctx, stepAsset, a.Path, func(res *scenario.Response) error {
			return b.beSure(a.Path, verify.File(res, a.Sum, b.isSure(a.Path)))
		})
	})
}

// checkPageOnce skips the check if the cached page is known to be right.
func checkPageOnce(res *scenario.Response, assets []Asset, sure bool) error {
	if sure && (res.Cached || res.NotModified) {
		return nil
	}
	return checkPage(res, assets)
}

// together runs n calls concurrently, waits for all, and returns the first error.
func together(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// signIn signs a user in. The first sign-in of a user is also the sign-up.
func (b *browser) signIn(ctx context.Context, user string) error {
	token, err := loginToken(b.ct.key, user, time.Now())
	if err != nil {
		return err
	}
	return b.auth(ctx, token, true, checkEmptyOK)
}

// auth sends a login token, or no token.
func (b *browser) auth(ctx context.Context, token string, send bool, check func(res *scenario.Response) error) error {
	r := scenario.Request{Step: stepAuth, Method: http.MethodPost, Path: "/api/auth"}
	if send {
		r.Header = []scenario.Field{{Name: "Authorization", Value: "Bearer " + token}}
	}
	return b.do(ctx, &r, check)
}

// signOut ends the session. again means that an earlier attempt got a bad answer
// or none. Then a target that stores sessions may have ended this one already.
func (b *browser) signOut(ctx context.Context, again bool) error {
	return b.post(ctx, stepSignout, "/api/signout", func(res *scenario.Response) error {
		if again && res.Status == http.StatusUnauthorized {
			return wantSignedOut(res)
		}
		return checkEmptyOK(res)
	})
}

func (b *browser) me(ctx context.Context, user string) error {
	return b.get(ctx, stepMe, "/api/user/me", func(res *scenario.Response) error { return checkMe(res, user) })
}

// meRefused checks that GET /api/user/me refuses a browser without a session.
func (b *browser) meRefused(ctx context.Context, check string) error {
	return b.get(ctx, stepMe, "/api/user/me", func(res *scenario.Response) error {
		return verify.Refusal(res, check, http.StatusUnauthorized, textSignedOut)
	})
}

// list reads the owner's list.
func (b *browser) list(ctx context.Context, chairs []*chair, exact bool, seen func(i int, latest int64)) error {
	return b.get(ctx, stepList, "/api/isu", func(res *scenario.Response) error {
		return checkList(res, chairs, exact, seen)
	})
}

func isuPath(uuid, rest string) string { return "/api/isu/" + uuid + rest }

// detail reads one ISU and returns its id.
func (b *browser) detail(ctx context.Context, c *chair) (id int64, err error) {
	err = b.get(ctx, stepISU, isuPath(c.uuid, ""), func(res *scenario.Response) error {
		id, err = checkISU(res, http.StatusOK, c)
		return err
	})
	return id, err
}

func (b *browser) icon(ctx context.Context, c *chair) error {
	path := isuPath(c.uuid, "/icon")
	return b.get(ctx, stepIcon, path, func(res *scenario.Response) error {
		return b.beSure(path, checkIcon(res, c, b.isSure(path)))
	})
}

// icons reads the icons of all chairs at once, as a list page does.
func (b *browser) icons(ctx context.Context, chairs []*chair) error {
	return together(len(chairs), func(i int) error { return b.icon(ctx, chairs[i]) })
}

// graph reads the graph of a chair's day and records what it returned.
func (b *browser) graph(ctx context.Context, c *chair, day int64) (g *graph, err error) {
	asked := b.ct.clock.sinceOrigin(time.Now())
	err = b.get(ctx, stepGraph, isuPath(c.uuid, "/graph?datetime=")+strconv.FormatInt(day, 10), func(res *scenario.Response) error {
		g, err = checkGraph(res, c, day, asked)
		return err
	})
	if err == nil {
		c.sightGraph(g, b.ct.clock.sinceOrigin(time.Now()))
	}
	return g, err
}

// path returns the request path with the query in the API's form.
func (q conditionQuery) path(uuid string) string {
	p := "/api/condition/" + uuid + "?end_time=" + strconv.FormatInt(q.end, 10) + "&condition_level=" + q.levels.param()
	if q.start != fromEver {
		p += "&start_time=" + strconv.FormatInt(q.start, 10)
	}
	return p
}

func (s levelSet) param() string {
	var names []string
	for l := Info; l <= Critical; l++ {
		if s.has(l) {
			names = append(names, l.String())
		}
	}
	return strings.Join(names, "%2C")
}

// conditions reads one page and records what it returned. With points set, fresh
// is the number of conditions per level that the owner had not read before.
func (b *browser) conditions(ctx context.Context, c *chair, q conditionQuery, recent []int32, points bool) (p page, fresh [Critical + 1]int64, err error) {
	asked := b.ct.clock.sinceOrigin(time.Now())
	err = b.get(ctx, stepCondition, q.path(c.uuid), func(res *scenario.Response) error {
		p, err = checkConditions(res, c, q, asked, recent)
		return err
	})
	if err == nil {
		fresh = c.sightPage(&p, b.ct.clock.sinceOrigin(time.Now()), points)
	}
	return p, fresh, err
}
