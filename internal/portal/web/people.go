package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// peoplePages are the pages of those who take part.
func (s *site) peoplePages() []api.Route {
	return []api.Route{
		{Method: "GET", Path: "/contests/{contest}", Need: api.Anyone, Handle: s.contest},
		{Method: "GET", Path: "/contests/{contest}/join", Need: api.Anyone, Handle: s.join},
		{Method: "POST", Path: "/contests/{contest}/signup", Need: api.Login, Limit: 10, Handle: s.signUp},
		{Method: "POST", Path: "/contests/{contest}/team", Need: api.Playing, Limit: 30, Handle: s.changeTeam},
		{Method: "POST", Path: "/contests/{contest}/seek", Need: api.Login, Limit: 10, Handle: s.seek},
		{Method: "GET", Path: "/invitation", Need: api.Anyone, Limit: 60, Handle: s.invitation},
		{Method: "POST", Path: "/invitation", Need: api.Login, Limit: 10, Handle: s.accept},
		{Method: "GET", Path: "/desk/{contest}", Need: api.Staffed, Handle: s.desk},
		{Method: "POST", Path: "/desk/{contest}", Need: api.Desk, Limit: 120, Handle: s.decide},
	}
}

// contestPage is a page of the contest in the path.
func (s *site) contestPage(c *api.Call) (p page, err error) {
	if c.People == nil {
		return p, api.ErrNotFound
	}
	p.Lang = languageOf(c)
	p.words = s.words[p.Lang]
	if p.Contest, err = c.People.Contest(c.R.Context(), c.Who, c.R.PathValue("contest")); err != nil {
		return p, err
	}
	p.Title = p.In(p.Contest.Name)
	all, err := c.Portal.Rounds(c.R.Context(), c.Who)
	for _, r := range all {
		if r.Contest == p.Contest.ID {
			p.Rounds = append(p.Rounds, r)
		}
	}
	return p, err
}

func (s *site) contest(c *api.Call) error {
	p, err := s.contestPage(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "contest", p)
}

// join is the page of the caller's part in a contest.
func (s *site) join(c *api.Call) error { return s.joinWith(c, http.StatusOK, "", nil) }

// joinWith shows the page with a link that was just made, or with what was refused: what was
// typed stays.
func (s *site) joinWith(c *api.Call, status int, link string, refused error) error {
	p, err := s.contestPage(c)
	if err != nil {
		return err
	}
	if p.Link = link; refused != nil {
		p.Error, p.Typed = p.Refusal(refused), c.R.PostForm
	}
	return s.render(c, status, "join", p)
}

// Refusal is what was refused, in the language of the page.
func (p page) Refusal(err error) string {
	var refused *api.RefusedError
	if errors.As(err, &refused) {
		if text, ok := p.words["refused."+refused.Code]; ok {
			return text
		}
	}
	return err.Error()
}

// Was is what was typed into a field of a form that was refused.
func (p page) Was(field, or string) string {
	if v, ok := p.Typed[field]; ok && len(v) > 0 {
		return v[0]
	}
	return or
}

// orRefused shows the page of the contest again where an act was refused.
func (s *site) orRefused(c *api.Call, err error, done func() error) error {
	var refused *api.RefusedError
	switch {
	case errors.As(err, &refused):
		return s.joinWith(c, http.StatusConflict, "", err)
	case err != nil:
		return err
	}
	return done()
}

// toJoin leads to the page of the caller's part in a contest.
func toJoin(c *api.Call, contest string) error {
	http.Redirect(c.W, c.R, "/contests/"+url.PathEscape(contest)+"/join", http.StatusSeeOther)
	return nil
}

// answersOf are the fields answer-ID of a form.
func answersOf(c *api.Call) map[string]string {
	out := map[string]string{}
	for field, v := range c.R.PostForm {
		if id, ok := strings.CutPrefix(field, "answer-"); ok && len(v) > 0 {
			out[id] = v[0]
		}
	}
	return out
}

func (s *site) signUp(c *api.Call) error {
	if c.People == nil {
		return api.ErrNotFound
	}
	contest := c.R.PathValue("contest")
	in := api.SignUp{Name: c.R.PostFormValue("name"), Division: c.R.PostFormValue("division"), Code: c.R.PostFormValue("code"), Terms: c.R.PostFormValue("terms") != "",
		Declares: c.R.PostForm["declares"], Answers: answersOf(c)}
	_, err := c.People.SignUp(c.R.Context(), c.Who, contest, in)
	return s.orRefused(c, err, func() error { return toJoin(c, contest) })
}

// changeTeam is an act of a member on its team. The service knows what only a leader may do.
func (s *site) changeTeam(c *api.Call) error {
	if c.People == nil {
		return api.ErrNotFound
	}
	ctx, contest, account := c.R.Context(), c.R.PathValue("contest"), c.R.PostFormValue("account")
	var err error
	link := ""
	switch act := c.R.PostFormValue("act"); act {
	case "invite":
		token, failed := c.People.Invite(ctx, c.Who, contest)
		link, err = c.Base()+"/invitation?token="+token, failed
	case "edit":
		_, err = c.People.Edit(ctx, c.Who, contest, api.Edit{Name: c.R.PostFormValue("name"), Division: c.R.PostFormValue("division"), Answers: answersOf(c)})
	case "leave":
		err = c.People.Leave(ctx, c.Who, contest)
	case "remove":
		err = c.People.Remove(ctx, c.Who, contest, account)
	case "hand-over":
		err = c.People.HandOver(ctx, c.Who, contest, account)
	case "withdraw":
		err = c.People.Withdraw(ctx, c.Who, contest, c.R.PostFormValue("reason"))
	default:
		err = &api.BadRequestError{Text: "there is no such act"}
	}
	return s.orRefused(c, err, func() error {
		if link != "" { // it is shown once: only its digest is kept
			return s.joinWith(c, http.StatusOK, link, nil)
		}
		return toJoin(c, contest)
	})
}

func (s *site) seek(c *api.Call) error {
	if c.People == nil {
		return api.ErrNotFound
	}
	level, err := strconv.Atoi(c.R.PostFormValue("level"))
	if err != nil {
		return &api.BadRequestError{Text: "the level is no whole number"}
	}
	err = c.People.Seek(c.R.Context(), c.Who, c.R.PathValue("contest"), level, c.R.PostFormValue("text"))
	return s.orRefused(c, err, func() error { return toJoin(c, c.R.PathValue("contest")) })
}

// invitation shows to which team a link leads. Joining needs a button: programs look at links.
func (s *site) invitation(c *api.Call) error {
	return s.invitationWith(c, http.StatusOK, c.R.URL.Query().Get("token"), nil)
}

func (s *site) invitationWith(c *api.Call, status int, token string, refused error) error {
	if c.People == nil {
		return api.ErrNotFound
	}
	p := page{Title: "title.invitation", Token: token, Lang: languageOf(c)}
	p.words = s.words[p.Lang]
	if refused != nil {
		p.Error = p.Refusal(refused)
	}
	var err error
	if p.Invitation, err = c.People.Invitation(c.R.Context(), c.Who, token); errors.Is(err, api.ErrNotFound) {
		return s.render(c, http.StatusNotFound, "invitation", p)
	}
	if err != nil {
		return err
	}
	if p.Contest, err = c.People.Contest(c.R.Context(), c.Who, p.Invitation.Contest); err != nil {
		return err
	}
	return s.render(c, status, "invitation", p)
}

func (s *site) accept(c *api.Call) error {
	if c.People == nil {
		return api.ErrNotFound
	}
	token := c.R.PostFormValue("token")
	m, err := c.People.Accept(c.R.Context(), c.Who, token, c.R.PostForm["declares"])
	var refused *api.RefusedError
	if errors.As(err, &refused) || errors.Is(err, api.ErrNotFound) {
		return s.invitationWith(c, http.StatusConflict, token, err)
	}
	if err != nil {
		return err
	}
	return toJoin(c, m.Contest)
}

// desk is the page of staff on who takes part.
func (s *site) desk(c *api.Call) error { return s.deskWith(c, http.StatusOK, "", nil) }

func (s *site) deskWith(c *api.Call, status int, code string, refused error) error {
	p, err := s.contestPage(c)
	if err != nil {
		return err
	}
	if p.Applied, err = c.People.Applied(c.R.Context(), c.Who, p.Contest.ID); err != nil {
		return err
	}
	if p.Link = code; refused != nil {
		p.Error = p.Refusal(refused)
	}
	return s.render(c, status, "desk", p)
}

// decide is an act of staff on who takes part.
func (s *site) decide(c *api.Call) error {
	if c.People == nil {
		return api.ErrNotFound
	}
	ctx, contest, code := c.R.Context(), c.R.PathValue("contest"), ""
	var err error
	switch act := c.R.PostFormValue("act"); act {
	case "code":
		places, bad := strconv.Atoi(c.R.PostFormValue("places"))
		if bad != nil {
			return &api.BadRequestError{Text: "the places are no whole number"}
		}
		code, err = c.People.Code(ctx, c.Who, contest, places, c.R.PostFormValue("note"))
	case "list":
		err = c.People.List(ctx, c.Who, contest, strings.Split(c.R.PostFormValue("names"), "\n"))
	default:
		err = c.People.Decide(ctx, c.Who, contest, api.Decision{Team: c.R.PostFormValue("team"), Act: act, Division: c.R.PostFormValue("division"), Reason: c.R.PostFormValue("reason")})
	}
	var refused *api.RefusedError
	switch {
	case errors.As(err, &refused):
		return s.deskWith(c, http.StatusConflict, "", err)
	case err != nil:
		return err
	case code != "": // it is shown once: only its digest is kept
		return s.deskWith(c, http.StatusOK, code, nil)
	}
	http.Redirect(c.W, c.R, "/desk/"+url.PathEscape(contest), http.StatusSeeOther)
	return nil
}

// DivisionName is a division's title, or the word of a usual one.
func (p page) DivisionName(id string) string {
	if p.Contest != nil {
		for _, d := range p.Contest.Divisions {
			if d.ID == id && len(d.Title) > 0 {
				return p.In(d.Title)
			}
		}
	}
	if text, ok := p.words["division."+id]; ok {
		return text
	}
	return id
}

// TeamState is the word of a team's state.
func (p page) TeamState(state string) string {
	if state == "" {
		state = "in"
	}
	return p.T("team." + state)
}

// Words are what a member may declare in the contest.
func (p page) Words() (out []string) {
	for _, d := range p.Contest.Divisions {
		if d.Word != "" && !slices.Contains(out, d.Word) {
			out = append(out, d.Word)
		}
	}
	return out
}

// Seeking reports whether the reader looks for a team.
func (p page) Seeking() bool {
	return slices.ContainsFunc(p.Contest.Seekers, func(s api.Seeker) bool { return s.Own })
}

// Next is the address of the invitation, where a login leads back to.
func (p page) Next() string { return "/invitation?token=" + url.QueryEscape(p.Token) }

// MayDecide reports whether the reader decides who takes part.
func (p page) MayDecide() bool { return api.Desk.Allows(p.Who) }

// Acts are what staff may do with a team of a state.
func (page) Acts(state string) []string {
	switch state {
	case "asked", "waiting":
		return []string{"admit", "refuse"}
	case "refused":
		return []string{"admit"}
	case "withdrawn":
		return []string{"restore"}
	case "":
		return []string{"withdraw"}
	}
	return nil
}
