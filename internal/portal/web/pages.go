package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// Pages are the routes of the pages, and what shows the page of an error. An error of Pages is
// a mistake of the program.
func Pages() ([]api.Route, func(c *api.Call, status int, text string), error) {
	s, err := newSite()
	if err != nil {
		return nil, nil, err
	}
	return slices.Concat(s.loginPages(), s.noticePages(), s.peoplePages(), s.besidePages(), []api.Route{
		{Method: "GET", Path: "/{$}", Need: api.Anyone, Handle: s.home},
		{Method: "GET", Path: "/r/{round}", Need: api.Anyone, Handle: s.board},
		{Method: "GET", Path: "/tv/{round}", Need: api.Anyone, Handle: s.tv},
		{Method: "GET", Path: "/r/{round}/teams/{team}", Need: api.Anyone, Handle: s.otherTeam},
		{Method: "GET", Path: "/r/{round}/team", Need: api.Playing, Handle: s.team},
		{Method: "POST", Path: "/r/{round}/team/run", Need: api.Playing, Limit: 10, Handle: s.run},
		{Method: "GET", Path: "/r/{round}/jobs/{job}", Need: api.Login, Handle: s.job},
		{Method: "POST", Path: "/r/{round}/jobs/{job}/cancel", Need: api.Login, Limit: 20, Handle: s.cancel},
		{Method: "GET", Path: "/r/{round}/questions", Need: api.Anyone, Handle: s.questions},
		{Method: "POST", Path: "/r/{round}/questions", Need: api.Playing, Limit: 6, Handle: s.ask},
		{Method: "GET", Path: "/staff/{round}", Need: api.Staffed, Handle: s.staff},
		{Method: "POST", Path: "/staff/{round}/say", Need: api.Answers, Limit: 60, Handle: s.say},
		{Method: "POST", Path: "/staff/{round}/claim", Need: api.Answers, Limit: 60, Handle: s.claim},
		{Method: "POST", Path: "/staff/{round}/worker", Need: api.Judges, Limit: 60, Handle: s.worker},
		{Method: "POST", Path: "/staff/{round}/clock", Need: api.Chief, Limit: 60, Handle: s.clock},
		{Method: "POST", Path: "/staff/{round}/state", Need: api.Chief, Limit: 60, Handle: s.state},
		{Method: "GET", Path: "/static/{file}", Need: api.Anyone, Handle: static},
	}), s.errorPage, nil
}

// errorPage is the page of an error.
func (s *site) errorPage(c *api.Call, status int, text string) {
	// If the page of an error cannot be made, the status alone says it.
	if s.render(c, status, "error", page{Title: http.StatusText(status), Error: text}) != nil {
		c.W.WriteHeader(status)
	}
}

func (s *site) home(c *api.Call) error {
	rounds, err := c.Portal.Rounds(c.R.Context(), c.Who)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "home", page{Title: "title.home", Rounds: rounds})
}

// round is a page of the round in the path.
func (s *site) round(c *api.Call) (p page, err error) {
	p.Lang = languageOf(c)
	p.words = s.words[p.Lang]
	if p.Round, err = c.Portal.Round(c.R.Context(), c.Who, c.R.PathValue("round")); err == nil {
		p.Title = p.In(p.Round.Title)
	}
	return p, err
}

// withBoard is a page of the round with its board and the chart of its first teams.
func (s *site) withBoard(c *api.Call) (p page, err error) {
	if p, err = s.round(c); err != nil {
		return p, err
	}
	if p.Board, err = c.Portal.Board(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return p, err
	}
	pinned := c.R.URL.Query()["pin"]
	if c.Who.Team != "" && !slices.Contains(pinned, c.Who.Team) {
		pinned = append(pinned, c.Who.Team)
	}
	for _, row := range p.Board.Rows {
		if len(pinned) < mostLines && row.Runs > 0 && !slices.Contains(pinned, row.Team) {
			pinned = append(pinned, row.Team)
		}
		if !slices.Contains(p.Divisions, row.Division) && row.Division != "" {
			p.Divisions = append(p.Divisions, row.Division)
		}
	}
	lines, err := c.Portal.Series(c.R.Context(), c.Who, p.Round.ID, pinned[:min(len(pinned), mostLines)])
	if err != nil {
		return p, err
	}
	lines = slices.DeleteFunc(lines, func(l board.Series) bool { return len(l.Points) == 0 })
	if p.Ghosts, err = c.Portal.Ghosts(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return p, err
	}
	if len(lines) > 0 || len(p.Ghosts) > 0 {
		p.Chart = p.scores(lines, p.minutes(), p.Ghosts...)
	}
	if p.Division = c.R.URL.Query().Get("division"); p.Division != "" {
		p.Board.Rows = slices.DeleteFunc(slices.Clone(p.Board.Rows), func(r board.Row) bool { return r.Division != p.Division })
	}
	return p, nil
}

// minutes is how long the round has run, for the axis of charts; 0 for a round without an end.
func (p page) minutes() float64 {
	c := p.Round.Clock
	if c.Start.IsZero() || c.End.IsZero() || c.Now.Before(c.Start) {
		return 0
	}
	return c.Now.Sub(c.Start).Minutes()
}

func (s *site) board(c *api.Call) error {
	p, err := s.withBoard(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "board", p)
}

func (s *site) tv(c *api.Call) error {
	p, err := s.withBoard(c)
	if err != nil {
		return err
	}
	p.TV = true
	return s.render(c, http.StatusOK, "tv", p)
}

func (s *site) otherTeam(c *api.Call) error {
	p, err := s.round(c)
	if err != nil {
		return err
	}
	if p.Team, err = c.Portal.Team(c.R.Context(), c.Who, p.Round.ID, c.R.PathValue("team")); err != nil {
		return err
	}
	p.Title = p.Team.Name
	if len(p.Team.Series) > 0 {
		p.Chart = p.scores([]board.Series{{Team: p.Team.ID, Name: p.Team.Name, Points: p.Team.Series}}, p.minutes())
	}
	return s.render(c, http.StatusOK, "other", p)
}

// to leads to a page of a round.
func to(c *api.Call, parts ...string) error {
	path := "/r/" + url.PathEscape(c.R.PathValue("round"))
	for _, p := range parts {
		path += "/" + url.PathEscape(p)
	}
	http.Redirect(c.W, c.R, path, http.StatusSeeOther)
	return nil
}
