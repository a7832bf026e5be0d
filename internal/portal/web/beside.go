package web

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// besidePages are the pages of what stands beside the ranking: prizes, ghosts, the trainer's page,
// hints and flags.
func (s *site) besidePages() []api.Route {
	return []api.Route{
		{Method: "GET", Path: "/r/{round}/prizes", Need: api.Anyone, Handle: s.prizes},
		{Method: "POST", Path: "/r/{round}/prizes", Need: api.Judges, Limit: 60, Handle: s.award},
		{Method: "POST", Path: "/r/{round}/team/hint", Need: api.Playing, Limit: 20, Handle: s.openHint},
		{Method: "GET", Path: "/train/{round}", Need: api.Staffed, Handle: s.train},
		{Method: "GET", Path: "/staff/{round}/ghosts", Need: api.Staffed, Handle: s.ghosts},
		{Method: "POST", Path: "/staff/{round}/ghosts", Need: api.Chief, Limit: 60, Handle: s.changeGhosts},
		{Method: "GET", Path: "/staff/{round}/flags", Need: api.Judges, Handle: s.flags},
	}
}

// boarded is a page of the round with its board, for the names of teams.
func (s *site) boarded(c *api.Call, title string) (p page, err error) {
	if p, err = s.round(c); err != nil {
		return p, err
	}
	p.Title = title
	p.Board, err = c.Portal.Board(c.R.Context(), c.Who, p.Round.ID)
	return p, err
}

func (s *site) prizes(c *api.Call) error {
	p, err := s.boarded(c, "title.prizes")
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "prizes", p)
}

func (s *site) award(c *api.Call) error {
	_, err := c.Portal.Award(c.R.Context(), c.Who, c.R.PathValue("round"), api.Award{Prize: c.R.PostFormValue("prize"), Team: c.R.PostFormValue("team"), Reason: c.R.PostFormValue("reason")})
	if err != nil {
		return err
	}
	return to(c, "prizes")
}

func (s *site) openHint(c *api.Call) error {
	if _, err := c.Portal.OpenHint(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PostFormValue("hint")); err != nil {
		return err
	}
	return to(c, "team")
}

func (s *site) train(c *api.Call) error {
	p, err := s.boarded(c, "title.train")
	if err != nil {
		return err
	}
	if p.Trainees, err = c.Portal.Trainees(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "train", p)
}

func (s *site) ghosts(c *api.Call) error { return s.ghostsWith(c, http.StatusOK, "") }

func (s *site) ghostsWith(c *api.Call, status int, refused string) error {
	p, err := s.boarded(c, "title.ghosts")
	if err != nil {
		return err
	}
	p.Error, p.Typed = refused, c.R.PostForm
	if p.Ghosts, err = c.Portal.Ghosts(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return err
	}
	if p.Rounds, err = c.Portal.Rounds(c.R.Context(), c.Who); err != nil {
		return err
	}
	return s.render(c, status, "ghosts", p)
}

// changeGhosts adds a ghost of typed lines, or removes one.
func (s *site) changeGhosts(c *api.Call) error {
	round := c.R.PathValue("round")
	if id := c.R.PostFormValue("remove"); id != "" {
		if err := c.Portal.RemoveGhost(c.R.Context(), c.Who, round, id); err != nil {
			return err
		}
		return toGhosts(c)
	}
	g := api.NewGhost{Name: c.R.PostFormValue("name"), Source: c.R.PostFormValue("source"), Public: c.R.PostFormValue("public") != ""}
	points, err := board.ParseGhost(c.R.PostFormValue("points"))
	if err != nil {
		return s.ghostsWith(c, http.StatusBadRequest, err.Error())
	}
	g.Points = points
	if _, err := c.Portal.AddGhost(c.R.Context(), c.Who, round, g); err != nil {
		return err
	}
	return toGhosts(c)
}

func toGhosts(c *api.Call) error {
	http.Redirect(c.W, c.R, "/staff/"+url.PathEscape(c.R.PathValue("round"))+"/ghosts", http.StatusSeeOther)
	return nil
}

func (s *site) flags(c *api.Call) error {
	p, err := s.boarded(c, "title.flags")
	if err != nil {
		return err
	}
	if p.Flags, err = c.Portal.Flags(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "flags", p)
}

// Prize is what a prize is for, in one sentence.
func (p page) Prize(z api.Prize) string {
	switch z.Kind {
	case "best_of":
		return p.T("prize.best_of", z.Of)
	case "first_above":
		return p.T("prize.first_above", p.Score(z.Above))
	case "biggest_jump":
		return p.T("prize.biggest_jump." + z.Of)
	}
	return p.T("prize." + z.Kind)
}

// PrizeValue is what the holder of a prize has reached; "" where its rank or a decision says it.
func (p page) PrizeValue(z api.Prize) string {
	switch {
	case z.Kind == "biggest_jump" && z.Of == "ratio":
		return fmt.Sprintf("×%.2f", z.Value)
	case z.Kind == "biggest_jump":
		return "+" + p.Score(z.Value)
	case z.Kind == "longest_clean":
		return p.T("runs.n", int(z.Value))
	case z.Kind == "first_above", z.Kind == "first_pass":
		return p.Score(z.Value)
	}
	return ""
}

// ByHand reports whether staff gives a prize.
func (page) ByHand(z api.Prize) bool { return z.Kind == "manual" }

// Judges reports whether the reader may give prizes and see flags.
func (p page) Judges() bool { return api.Judges.Allows(p.Who) }

// Chief reports whether the reader may change what the round shows.
func (p page) Chief() bool { return api.Chief.Allows(p.Who) }

// Milestones are all milestones, each with when a team reached it; zero for not yet.
func (p page) Milestones(reached []board.Reached) []board.Reached {
	out := make([]board.Reached, len(board.Milestones))
	for i, m := range board.Milestones {
		out[i].Milestone = m
		for _, r := range reached {
			if r.Milestone == m {
				out[i] = r
			}
		}
	}
	return out
}

// Unlock is when a hint unlocks, in words.
func (p page) Unlock(h api.Hint) string {
	switch {
	case h.After > 0 && h.Above > 0:
		return p.T("hint.either", p.Long(h.After), p.Score(h.Above))
	case h.Above > 0:
		return p.T("hint.above", p.Score(h.Above))
	}
	return p.T("hint.after", p.Long(h.After))
}

// Since is how long ago a time is, for people: whole minutes.
func (p page) Since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return p.T("ago", int(p.Round.Clock.Now.Sub(t).Minutes()))
}

// Small draws the course of a trainee: steps over the time of play, with a mark where a run failed.
func (p page) Small(t api.Trainee) template.HTML {
	const width, height, edge = 260.0, 70.0, 3.0
	hi, top := 1.0, 1.0
	for _, at := range t.Points {
		hi, top = math.Max(hi, at.Minute), math.Max(top, at.Score)
	}
	hi = math.Max(hi, p.minutes())
	x := func(minute float64) float64 { return edge + (width-2*edge)*minute/hi }
	y := func(score float64) float64 { return height - edge - (height-2*edge)*score/top }
	var line, fails strings.Builder
	before := 0.0
	for _, at := range t.Points {
		if at.Passed {
			fmt.Fprintf(&line, "%.1f,%.1f %.1f,%.1f ", x(at.Minute), y(before), x(at.Minute), y(at.Score))
			before = at.Score
			continue
		}
		fmt.Fprintf(&fails, `<path d="M%[1]f %[2]fl6 6m0 -6l-6 6"/>`, x(at.Minute)-3, height-edge-6)
	}
	if before > 0 {
		fmt.Fprintf(&line, "%.1f,%.1f", x(hi), y(before))
	}
	label := html.EscapeString(p.T("train.chart", len(t.Points), p.Score(t.Row.Best)))
	return template.HTML(fmt.Sprintf(`<svg class="small" viewBox="0 0 %g %g" role="img" aria-label="%s"><polyline points="%s"/>%s</svg>`,
		width, height, label, strings.TrimSpace(line.String()), fails.String())) // numbers, and an escaped label
}
