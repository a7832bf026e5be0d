package isuports

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// leastFit is the number of players who are not disqualified, below which the
// check of players adds some.
const leastFit = 10

// checkPlayers starts the check of what players of an initial tenant see: new
// scores and the end of a competition at once, a disqualification within the
// allowed delay.
func (ct *contest) checkPlayers() error {
	h, err := ct.host(ct.tenant(ct.plan.watched))
	if err != nil {
		return err
	}
	h.tenant.touch()
	ct.keep("players of a tenant", 0, h.checkPlayers)
	return nil
}

// checkPlayers is one round of the check.
func (h *host) checkPlayers(ctx context.Context) error {
	fit, err := h.fit(ctx)
	if err != nil {
		return err
	}
	c, err := h.addCompetition(ctx, competitionTitle(h.rng))
	if err != nil {
		return err
	}
	rows := scoresOf(h.rng, fit)
	if err := h.upload(ctx, c, rows); err != nil {
		return err
	}
	reader, err := h.ct.guest(fit[0])
	if err != nil {
		return err
	}
	defer reader.close()
	out, err := h.ct.guest(fit[1])
	if err != nil {
		return err
	}
	defer out.close()
	if err := readAll(ctx, c, fit[1].id, reader, out); err != nil {
		return err
	}
	if err := h.disqualify(ctx, fit[1]); err != nil {
		return err
	}
	since := time.Now()
	if err := h.changeRanking(ctx, reader, c, rows); err != nil {
		return err
	}
	if !scenario.Sleep(ctx, h.ct.span(allowedDelay)-time.Since(since)) {
		return nil
	}
	if err := reader.checkShownDisqualified(ctx, fit[1].id); err != nil {
		return err
	}
	return out.checkDisqualified(ctx, c.id, fit[0].id)
}

// fit returns players who are not disqualified, and adds some if there are few.
func (h *host) fit(ctx context.Context) ([]*player, error) {
	listed, err := h.players(ctx)
	if err != nil {
		return nil, err
	}
	fit := qualified(listed)
	if len(fit) < leastFit {
		names := make([]string, leastFit)
		for i := range names {
			names[i] = personName(h.rng)
		}
		added, err := h.addPlayers(ctx, names)
		if err != nil {
			return nil, err
		}
		fit = append(fit, added...)
	}
	return h.some(fit, len(fit)), nil
}

// scoresOf returns rows with another score for each player.
func scoresOf(rng *rand.Rand, players []*player) []row {
	first := rng.Int64N(scoreLimit)
	rows := make([]row, len(players))
	for i, p := range players {
		rows[i] = row{p, first + int64(i)}
	}
	return rows
}

// readAll reads everything that a player reads, as an app that keeps answers would
// keep them.
func readAll(ctx context.Context, c *competition, other string, as ...guest) error {
	for _, g := range as {
		if _, err := g.competitions(ctx); err != nil {
			return err
		}
		if _, err := g.ranking(ctx, c, 0); err != nil {
			return err
		}
		if _, err := g.detail(ctx, other); err != nil {
			return err
		}
	}
	return nil
}

// changeRanking uploads the scores in the reverse order and finishes the
// competition. Both must be seen at once.
func (h *host) changeRanking(ctx context.Context, reader guest, c *competition, rows []row) error {
	reversed := slices.Clone(rows)
	for i := range reversed {
		reversed[i].score = rows[len(rows)-1-i].score
	}
	if err := h.upload(ctx, c, reversed); err != nil {
		return err
	}
	if _, err := reader.ranking(ctx, c, 0); err != nil {
		return err
	}
	if err := h.finish(ctx, c); err != nil {
		return err
	}
	if _, err := reader.ranking(ctx, c, 0); err != nil {
		return err
	}
	_, err := h.competitions(ctx)
	return err
}

// checkShownDisqualified checks that a player is shown as disqualified.
func (g guest) checkShownDisqualified(ctx context.Context, id string) error {
	d, err := g.detail(ctx, id)
	if err == nil && !d.disqualified {
		f := scenario.Wrong(nil, "disqualified-shown", "player %s is not shown as disqualified", id)
		f.Step, f.Weight = stepPlayer, cost(stepPlayer)
		return f
	}
	return err
}
