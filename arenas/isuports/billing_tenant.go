package isuports

import (
	"context"
	"math/rand/v2"
)

// billingTries limits how often the check of a tenant's billing may fail.
const billingTries = 4

// billedPlayers is the number of players with a name of a tenant whose billing is
// checked; as many have no name.
const billedPlayers = 100

// A biller checks the billing of a tenant of its own, which is known exactly.
type biller struct {
	organizer
	rng     *rand.Rand
	players []*player
	want    map[string]report
}

// checkBilling starts the check of a tenant's billing. After an error it begins
// again with another tenant.
func (ct *contest) checkBilling() error {
	a, err := ct.admin(adminTimeout)
	if err != nil {
		return err
	}
	var b *biller
	next := ct.planned()
	ct.keep("billing of a tenant", billingTries, func(ctx context.Context) (err error) {
		if b == nil {
			b, err = ct.newBiller(ctx, a, next)
			next = ct.planned()
		}
		if err == nil {
			err = b.round(ctx)
		}
		if err != nil {
			b = nil
		}
		return err
	})
	return nil
}

// newBiller adds a tenant and its players.
func (ct *contest) newBiller(ctx context.Context, a admin, p tenantPlan) (*biller, error) {
	t, err := a.addTenant(ctx, p)
	if err != nil {
		return nil, err
	}
	o, err := ct.organizer(t)
	if err != nil {
		return nil, err
	}
	b := &biller{organizer: o, rng: organizerRand(ct.s, p.name), want: map[string]report{}}
	names := make([]string, 2*billedPlayers)
	for i := range billedPlayers {
		names[i] = personName(b.rng)
	}
	all, err := b.addPlayers(ctx, names)
	if err == nil {
		b.players = all[:billedPlayers]
	}
	return b, err
}

// round holds a competition in which some players have a score and others only
// visit. The billing of all competitions must follow within the allowed delay.
func (b *biller) round(ctx context.Context) error {
	scored := b.rng.IntN(billedPlayers + 1)
	visited := scored + b.rng.IntN(billedPlayers-scored+1)
	c, err := b.addCompetition(ctx, competitionTitle(b.rng))
	if err != nil {
		return err
	}
	rows := make([]row, scored)
	for i, p := range b.players[:scored] {
		rows[i] = row{p, b.rng.Int64N(scoreLimit)}
	}
	if err := b.upload(ctx, c, rows); err != nil {
		return err
	}
	for _, p := range b.players[scored:visited] {
		if err := b.ct.glance(ctx, p, c); err != nil {
			return err
		}
	}
	if err := b.finish(ctx, c); err != nil {
		return err
	}
	b.want[c.id] = reportOf(c, scored, visited-scored)
	if !b.ct.pause(ctx, allowedDelay) {
		return nil
	}
	_, err = b.billing(ctx, b.want)
	return err
}

// glance reads a ranking once as a player.
func (ct *contest) glance(ctx context.Context, p *player, c *competition) error {
	g, err := ct.guest(p)
	if err != nil {
		return err
	}
	defer g.close()
	_, err = g.ranking(ctx, c, 0)
	return err
}
