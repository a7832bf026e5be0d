package isucondition

import (
	"context"
	"net/http"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// guests are the users and ISU of the registration checks.
type guests struct {
	ct                 *contest
	host, other        *owner
	bare, dressed      *chair // registered by the host: one without and one with an image
	unregistered, none *chair // unregistered posts before its registration; none is unknown to JIA
}

// inviteGuests makes the guests. They are not part of the load.
func (ct *contest) inviteGuests() *guests {
	rng := ct.s.Rand("guests")
	p := newArrivals(rng, ct.data)
	host := futureUser{id: "host_" + p.names.Next(rng), isus: []futureISU{p.isu(), p.isu(), p.isu()}}
	host.isus[0].image = -1
	host.isus[1].image = rng.IntN(p.pool)
	host.isus[2].image = rng.IntN(p.pool)
	o, chairs := ct.world.admit(host)
	other, _ := ct.world.admit(futureUser{id: "other_" + p.names.Next(rng)})
	return &guests{ct: ct, host: o, other: other, bare: chairs[0], dressed: chairs[1], unregistered: chairs[2],
		none: ct.world.chairOf(o, p.isu())}
}

// check tries the allowed and the forbidden ways to register ISU. hush ends the
// posts of the unregistered ISU.
func (g *guests) check(ctx context.Context, hush func()) error {
	host, other := g.ct.browser(checkTimeout), g.ct.browser(checkTimeout)
	defer host.cl.Close()
	defer other.cl.Close()
	// Without an image, because a target may answer before it has read the body, and a
	// proxy in between may then return another error.
	if err := host.refused(ctx, g.bare, "unauthorized", http.StatusUnauthorized, textSignedOut); err != nil {
		return err
	}
	if err := host.signIn(ctx, g.host.id); err != nil {
		return err
	}
	if err := other.signIn(ctx, g.other.id); err != nil {
		return err
	}
	for _, c := range []*chair{g.bare, g.dressed} {
		if err := host.checkNew(ctx, c); err != nil {
			return err
		}
	}
	if err := g.refusals(ctx, host, other); err != nil {
		return err
	}
	hush()
	return g.checkUnregistered(ctx, host)
}

// checkNew registers an ISU and checks what the target shows of it.
func (b *browser) checkNew(ctx context.Context, c *chair) error {
	if err := b.register(ctx, c); err != nil {
		return err
	}
	if _, err := b.detail(ctx, c); err != nil {
		return err
	}
	if err := b.icon(ctx, c); err != nil {
		return err
	}
	if err := b.list(ctx, c.owner.list(), true, nil); err != nil {
		return err
	}
	return b.checkNothing(ctx, c, b.ct.clock.now())
}

// refusals tries registrations that must be refused and must leave no data behind.
func (g *guests) refusals(ctx context.Context, host, other *browser) error {
	for _, b := range []*browser{host, other} {
		if err := b.refused(ctx, g.dressed, "duplicate", http.StatusConflict, textDuplicate); err != nil {
			return err
		}
	}
	if err := host.refused(ctx, g.none, "unknown-isu", http.StatusNotFound, textJIA); err != nil {
		return err
	}
	if err := host.brokenForm(ctx, g.none); err != nil {
		return err
	}
	if err := host.get(ctx, stepISU, isuPath(g.none.uuid, ""), wantNoISU("unknown-isu")); err != nil {
		return err
	}
	if err := other.list(ctx, nil, true, nil); err != nil {
		return err
	}
	return host.list(ctx, g.host.list(), true, nil)
}

// checkUnregistered registers the ISU that posted while it was unregistered. None
// of those conditions may appear, neither at once nor after buffers have been
// written.
func (g *guests) checkUnregistered(ctx context.Context, host *browser) error {
	c := g.unregistered
	if err := host.register(ctx, c); err != nil {
		return err
	}
	for i := range 2 {
		if i > 0 {
			if err := patient(ctx, strangeGrace); err != nil {
				return err
			}
		}
		if err := g.unheard(ctx, host, c); err != nil {
			return err
		}
		if err := host.list(ctx, g.host.list(), true, nil); err != nil {
			return err
		}
	}
	return nil
}

// unheard checks that the list of conditions is empty.
func (g *guests) unheard(ctx context.Context, host *browser, c *chair) error {
	q := conditionQuery{start: fromEver, end: g.ct.clock.now() + 365*daySeconds, levels: allLevels}
	return host.get(ctx, stepCondition, q.path(c.uuid), func(res *scenario.Response) error {
		r, err := verify.OpenJSON(res, http.StatusOK)
		if err != nil {
			return err
		}
		n := 0
		r.Array(func() { r.Skip(); n++ })
		if err := verify.EndJSON(res, &r); err != nil {
			return err
		}
		if n > 0 {
			return scenario.Wrong(res, "unregistered-accepted", "%d conditions that were posted before the ISU was registered", n)
		}
		return nil
	})
}
