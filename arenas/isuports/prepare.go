package isuports

import (
	"context"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/prechecks"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checksTimeout limits all checks before the load.
const checksTimeout = 60 * time.Second

// Prepare initializes the target and checks its answers.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	ct.begin(s)
	return prechecks.Run(ctx, s, checksTimeout, ct.initialize, ct.check)
}

// initialize calls POST /initialize.
func (ct *contest) initialize(ctx context.Context) error {
	b := ct.browser(adminTenant, "", initializeTimeout)
	defer b.close()
	return b.post(ctx, stepInitialize, "/initialize", nil, func(res *scenario.Response) error {
		var language string
		err := readData(res, func(r *jsonread.Reader, name []byte) {
			if string(name) == "lang" {
				language = string(r.Str())
			} else {
				r.Skip()
			}
		})
		if err == nil && language == "" {
			return scenario.Wrong(res, "initialize-lang", "no language")
		}
		if err == nil {
			ct.s.Say("initialized, an app in %s", language)
		}
		return err
	})
}

// check is the compatibility check. A target that fails it gets no load. All
// tenants are added first, so that the first page of the admin's billing is known.
func (ct *contest) check(ctx context.Context) error {
	a, err := ct.admin(adminTimeout)
	if err != nil {
		return err
	}
	defer a.close()
	var tenants [3]*tenant
	for i := range tenants {
		if tenants[i], err = a.addTenant(ctx, ct.planned()); err != nil {
			return err
		}
	}
	checks := []func(ctx context.Context) error{
		ct.checkStatic,
		func(ctx context.Context) error { return ct.checkInitial(ctx, a) },
		func(ctx context.Context) error { return ct.checkAPIs(ctx, tenants[0]) },
		func(ctx context.Context) error { return ct.checkRankings(ctx, tenants[1]) },
		func(ctx context.Context) error { return ct.checkRefusals(ctx, a, tenants[2]) },
	}
	return parallel.Do(ctx, len(checks), func(ctx context.Context, i int) error { return checks[i](ctx) })
}

// checkedSamples is the number of samples of the initial data that are checked.
const checkedSamples = 4

// checkInitial checks what is known of the initial data: pages of the admin's
// billing, and the competitions, billing and players of some tenants.
func (ct *contest) checkInitial(ctx context.Context, a admin) error {
	rng := ct.s.Rand("initial data")
	if _, err := a.billingPage(ctx, 0, true); err != nil {
		return err
	}
	if _, err := a.billingPage(ctx, 12+rng.Int64N(18), true); err != nil {
		return err
	}
	// Not tenant 1: its billing may take the unchanged app longer than the checks.
	if err := ct.checkInitialTenant(ctx, ct.tenant(2+rng.Int64N(int64(len(ct.data.Tenants)-1)))); err != nil {
		return err
	}
	for _, i := range rng.Perm(len(ct.data.Samples))[:min(checkedSamples, len(ct.data.Samples))] {
		if err := ct.checkSample(ctx, &ct.data.Samples[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkInitialTenant checks the competitions and the billing of a tenant of the
// initial data.
func (ct *contest) checkInitialTenant(ctx context.Context, t *tenant) error {
	o, err := ct.organizer(t)
	if err != nil {
		return err
	}
	defer o.close()
	list, err := o.competitions(ctx)
	if err != nil {
		return err
	}
	reports, err := o.billing(ctx, nil)
	if err != nil {
		return err
	}
	if n := len(t.allCompetitions()); len(list) != n || len(reports) != n {
		f := scenario.Wrong(nil, "competitions", "tenant %s has %d competitions and %d reports, want %d", t.name, len(list), len(reports), n)
		f.Step = stepCompetitions
		return f
	}
	return nil
}

// checkSample checks a player of the initial data.
func (ct *contest) checkSample(ctx context.Context, s *Sample) error {
	var t *tenant
	for i := range ct.data.Tenants {
		if ct.data.Tenants[i].Name == s.TenantName {
			t = ct.tenant(ct.data.Tenants[i].ID)
		}
	}
	p := &player{tenant: t, id: s.PlayerID}
	g, err := ct.guest(p)
	if err != nil {
		return err
	}
	defer g.close()
	if s.Disqualified {
		return g.checkDisqualified(ctx, s.CompetitionID, s.PlayerID)
	}
	d, err := g.detail(ctx, s.PlayerID)
	if err == nil && d.disqualified {
		err = scenario.Wrong(nil, "disqualified-shown", "player %s is shown as disqualified", p.id)
	}
	if err == nil {
		_, err = g.ranking(ctx, t.competition(s.CompetitionID), 0)
	}
	return err
}

// uploadRefused uploads a file that must be refused.
func (o organizer) uploadRefused(ctx context.Context, competition, csv, check string, status int) error {
	return o.refused(ctx, uploadRequest(competition, []byte(csv)), check, status)
}

// A refusable is a request that must be refused.
type refusable struct {
	step   scenario.Step
	method string
	path   string
	check  string
	status int
}

// allRefused sends requests that must be refused.
func (a *account) allRefused(ctx context.Context, all []refusable) error {
	for _, r := range all {
		request := &scenario.Request{Step: r.step, Method: r.method, Path: r.path}
		if r.method == http.MethodPost {
			request.ContentType = formType
		}
		if err := a.refused(ctx, request, r.check, r.status); err != nil {
			return err
		}
	}
	return nil
}
