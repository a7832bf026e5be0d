package isuports

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// rankingPath is the path of a page of a ranking.
func rankingPath(competition string, after int) string {
	path := "/api/player/competition/" + competition + "/ranking"
	if after > 0 {
		path += "?rank_after=" + strconv.Itoa(after)
	}
	return path
}

// A reading is a page of a ranking as a player has read it.
type reading struct {
	players []string // ids
	took    time.Duration
}

// ranking reads a page of a ranking.
func (g guest) ranking(ctx context.Context, c *competition, after int) (got reading, err error) {
	s := c.before()
	err = g.get(ctx, stepRanking, rankingPath(c.id, after), func(res *scenario.Response) error {
		got.took = res.Took
		p, err := readRanking(res)
		if err != nil {
			return err
		}
		if err := checkRanks(res, p.ranks, after); err != nil {
			return err
		}
		if err := checkSight(res, &p, after, c.title, c.within(s)); err != nil {
			return err
		}
		got.players = make([]string, len(p.ranks))
		for i, k := range p.ranks {
			got.players[i] = string(k.id)
		}
		return nil
	})
	return got, err
}

// competitions lists the competitions, the newest first.
func (g guest) competitions(ctx context.Context) ([]shownCompetition, error) {
	return g.listCompetitions(ctx, stepPlayerCompetitions, "/api/player/competitions", g.player.tenant)
}

// detail reads the page of a player of the same tenant.
func (g guest) detail(ctx context.Context, id string) (d detail, err error) {
	err = g.get(ctx, stepPlayer, "/api/player/player/"+id, func(res *scenario.Response) error {
		if d, err = readDetail(res); err != nil {
			return err
		}
		if d.id != id {
			return scenario.Wrong(res, "player-id", "player %.40q, want %q", d.id, id)
		}
		if p := g.player.tenant.named(id); p != nil && d.name != p.name {
			return scenario.Wrong(res, "player-name", "player %s has the name %.40q, want %q", p.id, d.name, p.name)
		}
		return nil
	})
	return d, err
}

// An identity is the answer of GET /api/me.
type identity struct {
	tenant, display string
	role            string
	loggedIn        bool
	me              shownPlayer // only of a player
}

func readIdentity(res *scenario.Response) (i identity, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		switch string(name) {
		case "tenant":
			t := readBilled(r)
			i.tenant, i.display = t.name, t.display
		case "me":
			if !r.Null() {
				i.me = readPlayer(r)
			}
		case "role":
			i.role = string(r.Str())
		case "logged_in":
			i.loggedIn = r.Bool()
		default:
			r.Skip()
		}
	})
	return i, err
}

// me checks who the target takes the account for.
func (a *account) me(ctx context.Context, want identity) error {
	return a.get(ctx, stepMe, "/api/me", func(res *scenario.Response) error {
		got, err := readIdentity(res)
		if err == nil && got != want {
			return scenario.Wrong(res, "me", "%+v, want %+v", got, want)
		}
		return err
	})
}

// checkDisqualified checks that a disqualified player may read nothing more. A
// failure costs as much as that of a write.
func (g guest) checkDisqualified(ctx context.Context, competition, other string) error {
	for _, r := range []scenario.Request{
		{Step: stepPlayer, Path: "/api/player/player/" + other},
		{Step: stepRanking, Path: rankingPath(competition, 0)},
		{Step: stepPlayerCompetitions, Path: "/api/player/competitions"},
	} {
		if err := g.refused(ctx, &r, "disqualified", http.StatusForbidden); err != nil {
			return weigh(err, writeCost)
		}
	}
	return nil
}
