package isucondition

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// wantSignedOut checks an endpoint's refusal of a request without a session.
func wantSignedOut(res *scenario.Response) error {
	return verify.Refusal(res, "unauthorized", http.StatusUnauthorized, textSignedOut)
}

func wantNoISU(check string) func(res *scenario.Response) error {
	return func(res *scenario.Response) error { return verify.Refusal(res, check, http.StatusNotFound, textNoISU) }
}

// An irregular is one request that must be refused.
type irregular struct {
	step   scenario.Step
	method string
	path   string
	check  string
	status int
	text   string
}

// checkIrregular tries all requests that must be refused. o is an owner of ISU;
// the ISU of stranger serve as foreign ones. If report is nil, the first error
// ends the check; otherwise every error is reported.
func (ct *contest) checkIrregular(ctx context.Context, o, stranger *owner, timeout time.Duration, report func(error)) error {
	b := ct.browser(timeout)
	defer b.cl.Close()
	own, foreign := o.list()[0].uuid, stranger.list()[0].uuid
	unknown := seeded.UUID(rand.New(rand.NewPCG(rand.Uint64(), 0))) // no part of the work that the seed offers
	acts := []func() error{func() error { return b.badLogins(ctx, o.id, report) }}
	for _, i := range uninvited(own) {
		acts = append(acts, func() error { return b.irregular(ctx, i) })
	}
	for range 2 { // the second is a login in an existing session
		acts = append(acts, func() error { return b.signIn(ctx, o.id) })
	}
	for _, i := range refusable(own, foreign, unknown, ct.clock.now()) {
		acts = append(acts, func() error { return b.irregular(ctx, i) })
	}
	for _, act := range acts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := act(); err != nil && report == nil {
			return err
		} else if err != nil {
			report(err)
		}
	}
	return nil
}

// badLogins tries the eight kinds of tokens that must be refused.
func (b *browser) badLogins(ctx context.Context, user string, report func(error)) error {
	tokens, err := badTokens(b.ct.key, user, time.Now())
	if err != nil {
		return err
	}
	for _, t := range tokens {
		err := b.auth(ctx, t.token, t.named, func(res *scenario.Response) error {
			return verify.Refusal(res, t.check, t.code, t.text)
		})
		if err != nil && report == nil {
			return err
		} else if err != nil {
			report(err)
		}
	}
	return nil
}

func (b *browser) irregular(ctx context.Context, i irregular) error {
	return b.do(ctx, &scenario.Request{Step: i.step, Method: i.method, Path: i.path}, func(res *scenario.Response) error {
		return verify.Refusal(res, i.check, i.status, i.text)
	})
}

// uninvited lists the endpoints that need a session, to be called without one. The
// parameters are valid, so it does not matter whether the target checks the
// session or the parameters first.
func uninvited(uuid string) []irregular {
	refused := func(step scenario.Step, method, path string) irregular {
		return irregular{step, method, path, "unauthorized", http.StatusUnauthorized, textSignedOut}
	}
	return []irregular{
		refused(stepSignout, http.MethodPost, "/api/signout"),
		refused(stepMe, http.MethodGet, "/api/user/me"),
		refused(stepList, http.MethodGet, "/api/isu"),
		refused(stepISU, http.MethodGet, isuPath(uuid, "")),
		refused(stepIcon, http.MethodGet, isuPath(uuid, "/icon")),
		refused(stepGraph, http.MethodGet, isuPath(uuid, "/graph?datetime=")+strconv.FormatInt(T0.Unix(), 10)),
		refused(stepCondition, http.MethodGet, conditionQuery{start: fromEver, end: T0.Unix(), levels: allLevels}.path(uuid)),
	}
}

// refusable lists the requests of a signed-in user that must be refused: ISU of
// another user, unknown ISU, missing or bad parameters.
func refusable(own, foreign, unknown string, now int64) []irregular {
	var all []irregular
	for _, whose := range []struct{ uuid, check string }{{foreign, "foreign-isu"}, {unknown, "unknown-isu"}} {
		missing := func(step scenario.Step, path string) {
			all = append(all, irregular{step, http.MethodGet, path, whose.check, http.StatusNotFound, textNoISU})
		}
		missing(stepISU, isuPath(whose.uuid, ""))
		missing(stepIcon, isuPath(whose.uuid, "/icon"))
		missing(stepGraph, isuPath(whose.uuid, "/graph?datetime=")+strconv.FormatInt(now, 10))
		missing(stepCondition, conditionQuery{start: fromEver, end: now, levels: allLevels}.path(whose.uuid))
	}
	bad := func(step scenario.Step, path, check, text string) {
		all = append(all, irregular{step, http.MethodGet, path, check, http.StatusBadRequest, text})
	}
	end := "end_time=" + strconv.FormatInt(now, 10)
	bad(stepGraph, isuPath(own, "/graph"), "graph-datetime", textNoDatetime)
	bad(stepGraph, isuPath(own, "/graph?datetime=today"), "graph-datetime", textBadDatetime)
	conditions := "/api/condition/" + own + "?"
	bad(stepCondition, conditions+"condition_level=info", "condition-end", textBadEnd)
	bad(stepCondition, conditions+"condition_level=info&end_time=now", "condition-end", textBadEnd)
	bad(stepCondition, conditions+end, "condition-no-level", textNoLevel)
	bad(stepCondition, conditions+end+"&condition_level=", "condition-no-level", textNoLevel)
	bad(stepCondition, conditions+end+"&condition_level=info&start_time=then", "condition-start", textBadStart)
	return all
}

// checkRandomOwner repeats the irregular checks under load, with a random owner of
// ISU, and the ISU of another owner as foreign ones.
func (ct *contest) checkRandomOwner(ctx context.Context, rng *rand.Rand) {
	owners := ct.world.seated()
	i := rng.IntN(len(owners))
	j := (i + 1 + rng.IntN(len(owners)-1)) % len(owners)
	ct.s.Report(ct.checkIrregular(ctx, owners[i], owners[j], 0, ct.s.Report))
}
