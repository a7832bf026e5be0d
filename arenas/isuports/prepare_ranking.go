package isuports

import (
	"context"
	"slices"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkRankings checks the rules of rankings on a tenant of its own: pages, ties,
// which row of a player counts, and that an upload is seen at once.
func (ct *contest) checkRankings(ctx context.Context, t *tenant) error {
	o, err := ct.organizer(t)
	if err != nil {
		return err
	}
	defer o.close()
	rng := ct.s.Rand("check of rankings")
	names := make([]string, rankingLimit+1)
	for i := range names {
		names[i] = personName(rng)
	}
	players, err := o.addPlayers(ctx, names)
	if err != nil {
		return err
	}
	c, err := o.addCompetition(ctx, competitionTitle(rng))
	if err != nil {
		return err
	}
	g, err := ct.guest(players[0])
	if err != nil {
		return err
	}
	defer g.close()
	for _, rows := range uploads(players, rng.Perm(len(players))) {
		if err := g.checkUpload(ctx, o, c, rows); err != nil {
			return err
		}
	}
	return nil
}

// uploads returns the CSVs of the check, each a row list: rising and falling
// scores, ties in which the last row of each player counts, and no rows.
func uploads(players []*player, order []int) [][]row {
	var rising, ties []row
	for i, p := range players {
		rising = append(rising, row{p, int64(i)})
		ties = append(ties, row{p, 1})
	}
	falling := slices.Clone(rising)
	for i := range falling {
		falling[i].score = int64(len(players) - i)
	}
	for _, i := range order {
		ties = append(ties, row{players[i], 1000})
	}
	return [][]row{rising, falling, ties, nil}
}

// checkUpload uploads rows and reads the whole ranking in pages.
func (g guest) checkUpload(ctx context.Context, o organizer, c *competition, rows []row) error {
	if err := o.upload(ctx, c, rows); err != nil {
		return err
	}
	for _, after := range []int{0, rankingLimit / 2, rankingLimit, rankingLimit + 1} {
		if _, err := g.ranking(ctx, c, after); err != nil {
			return err
		}
	}
	b := c.latest()
	if len(b.entries) == 0 {
		return nil
	}
	best := b.entries[0]
	d, err := g.detail(ctx, best.player.id)
	if want := []titledScore{{c.title, best.score}}; err == nil && !slices.Equal(d.scores, want) {
		f := scenario.Wrong(nil, "player-scores", "scores of player %s: %+v, want %+v", d.id, d.scores, want)
		f.Step = stepPlayer
		return f
	}
	return err
}
