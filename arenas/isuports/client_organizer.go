package isuports

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// addPlayers adds players with these names, and returns them in the same order.
func (o organizer) addPlayers(ctx context.Context, names []string) (added []*player, err error) {
	form := url.Values{"display_name[]": names}
	err = o.post(ctx, stepPlayersAdd, "/api/organizer/players/add", form, func(res *scenario.Response) error {
		players, err := readPlayers(res)
		if err != nil {
			return err
		}
		if len(players) != len(names) {
			return scenario.Wrong(res, "players-added", "%d players added, want %d", len(players), len(names))
		}
		for i, p := range players {
			if p.name != names[i] || p.disqualified {
				return scenario.Wrong(res, "players-added", "player %d: %+v, want the name %q", i, p, names[i])
			}
			if err := o.ct.checkID(res, p.id); err != nil {
				return err
			}
			known, err := o.tenant.learn(res, p)
			if err != nil {
				return err
			}
			added = append(added, known)
		}
		return nil
	})
	return added, err
}

// A listedPlayer is a player in the organizer's list.
type listedPlayer struct {
	*player
	disqualified bool
}

// players lists the players, the newest first.
func (o organizer) players(ctx context.Context) (list []listedPlayer, err error) {
	least := o.tenant.knownPlayers()
	err = o.get(ctx, stepPlayers, "/api/organizer/players", func(res *scenario.Response) error {
		players, err := readPlayers(res)
		if err != nil {
			return err
		}
		seen := make(map[string]bool, len(players))
		known := 0
		for _, p := range players {
			if seen[p.id] {
				return scenario.Wrong(res, "players-list", "player %.40q is listed twice", p.id)
			}
			seen[p.id] = true
			if o.tenant.named(p.id) != nil {
				known++
			}
			of, err := o.tenant.learn(res, p)
			if err != nil {
				return err
			}
			list = append(list, listedPlayer{of, p.disqualified})
		}
		if known < least {
			return scenario.Wrong(res, "players-list", "%d known players in the list, want %d", known, least)
		}
		return nil
	})
	return list, err
}

// disqualify disqualifies a player.
func (o organizer) disqualify(ctx context.Context, p *player) error {
	return o.post(ctx, stepDisqualify, "/api/organizer/player/"+p.id+"/disqualified", nil, func(res *scenario.Response) error {
		var shown shownPlayer
		err := readData(res, func(r *jsonread.Reader, name []byte) {
			if string(name) == "player" {
				shown = readPlayer(r)
			} else {
				r.Skip()
			}
		})
		if want := (shownPlayer{p.id, p.name, true}); err == nil && shown != want {
			return scenario.Wrong(res, "disqualify", "%+v, want %+v", shown, want)
		}
		return err
	})
}

// addCompetition adds a competition.
func (o organizer) addCompetition(ctx context.Context, title string) (c *competition, err error) {
	form := url.Values{"title": {title}}
	err = o.growing(ctx, stepCompetitionAdd, "/api/organizer/competitions/add", form, func(res *scenario.Response) error {
		var shown shownCompetition
		err := readData(res, func(r *jsonread.Reader, name []byte) {
			if string(name) == "competition" {
				shown = readCompetition(r)
			} else {
				r.Skip()
			}
		})
		if err != nil {
			return err
		}
		if shown.title != title || shown.finished {
			return scenario.Wrong(res, "competition-added", "%+v, want the title %q", shown, title)
		}
		if err := o.ct.checkID(res, shown.id); err != nil {
			return err
		}
		c = newCompetition(o.tenant, shown.id, title)
		o.tenant.held(c)
		return nil
	})
	return c, err
}

// finish finishes a competition.
func (o organizer) finish(ctx context.Context, c *competition) error {
	o.tenant.touch()
	confirmed := c.finish()
	err := o.post(ctx, stepFinish, "/api/organizer/competition/"+c.id+"/finish", nil, checkDone)
	if err == nil {
		confirmed()
	}
	return err
}

// upload replaces the scores of a competition.
func (o organizer) upload(ctx context.Context, c *competition, rows []row) error {
	confirmed := c.offer(newBoard(rows))
	err := o.do(ctx, uploadRequest(c.id, csvOf(rows)), func(res *scenario.Response) error {
		got := int64(-1)
		err := readData(res, func(r *jsonread.Reader, name []byte) {
			if string(name) == "rows" {
				got = r.Int()
			} else {
				r.Skip()
			}
		})
		if err == nil && got != int64(len(rows)) {
			return scenario.Wrong(res, "rows", "%d rows, want %d", got, len(rows))
		}
		return err
	})
	if err == nil {
		confirmed()
	}
	return err
}

// uploadRequest uploads a CSV to a competition.
func uploadRequest(competition string, csv []byte) *scenario.Request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("scores", "scores.csv")
	if err != nil {
		panic("BUG: writing a form to memory: " + err.Error())
	}
	part.Write(csv) // writing to a bytes.Buffer cannot fail
	w.Close()
	return &scenario.Request{Step: stepScore, Method: http.MethodPost, Path: "/api/organizer/competition/" + competition + "/score",
		ContentType: w.FormDataContentType(), Body: b.Bytes()}
}

// competitions lists the competitions, the newest first.
func (o organizer) competitions(ctx context.Context) ([]shownCompetition, error) {
	return o.listCompetitions(ctx, stepCompetitions, "/api/organizer/competitions", o.tenant)
}

// listCompetitions lists the competitions of a tenant and checks them.
func (a *account) listCompetitions(ctx context.Context, step scenario.Step, path string, t *tenant) (list []shownCompetition, err error) {
	known := t.allCompetitions()
	sights := make(map[string]sight, len(known))
	for id, c := range known {
		sights[id] = c.before()
	}
	err = a.get(ctx, step, path, func(res *scenario.Response) error {
		if list, err = readCompetitions(res); err != nil {
			return err
		}
		return checkCompetitions(res, list, known, sights)
	})
	return list, err
}

// checkCompetitions checks that a list shows each known competition once, as it
// is. Competitions that were added since may be in it.
func checkCompetitions(res *scenario.Response, list []shownCompetition, known map[string]*competition, sights map[string]sight) error {
	seen := make(map[string]bool, len(list))
	for _, shown := range list {
		if seen[shown.id] {
			return scenario.Wrong(res, "competitions", "competition %.40q is listed twice", shown.id)
		}
		seen[shown.id] = true
		if c := known[shown.id]; c != nil {
			s := c.within(sights[shown.id])
			s.boards = nil
			if err := checkSight(res, &page{competition: shown}, 0, c.title, s); err != nil {
				return err
			}
		}
	}
	for id := range known {
		if !seen[id] {
			return scenario.Wrong(res, "competitions", "competition %s is missing", id)
		}
	}
	return nil
}

// billing reads the billing of all competitions, the newest first. The reports of
// those that are known exactly must be right; want has further ones, by id.
func (o organizer) billing(ctx context.Context, want map[string]report) (reports []report, err error) {
	known := o.tenant.allCompetitions()
	due := time.Now().Add(-o.ct.span(allowedDelay))
	ids := make(map[string]bool, len(known))
	for id := range known {
		ids[id] = true
	}
	err = o.get(ctx, stepBilling, "/api/organizer/billing", func(res *scenario.Response) error {
		if reports, err = readReports(res); err != nil {
			return err
		}
		if err := checkReports(res, reports, ids); err != nil {
			return err
		}
		for _, r := range reports {
			if w, ok := want[r.competition]; ok {
				err = checkReport(res, r, w)
			} else if c := known[r.competition]; c != nil {
				err = c.checkReport(res, r, due)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return reports, err
}

// checkReport checks a report as far as the competition is known. The numbers of
// visitors are not: any worker may have visited it. A competition that was finished
// before due must be billed.
func (c *competition) checkReport(res *scenario.Response, r report, due time.Time) error {
	if r.title != c.title {
		return scenario.Wrong(res, "competition-title", "title %q, want %q", r.title, c.title)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.finishing && r.yen != 0:
		return scenario.Wrong(res, "billing-unfinished", "%d yen before the end of competition %s", r.yen, c.id)
	case c.truth && c.finished && r.yen != c.billing:
		return scenario.Wrong(res, "billing-report", "competition %s is billed %d yen, want %d", c.id, r.yen, c.billing)
	case !c.truth && c.finished && c.finishedAt.Before(due):
		if want := int64(len(c.boards[c.settled].entries)); c.settled == len(c.boards)-1 && r.players != want {
			return scenario.Wrong(res, "billing-report", "competition %s is billed for %d players, want %d", c.id, r.players, want)
		}
	}
	return nil
}
