package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// team is the page from which a team plays.
func (s *site) team(c *api.Call) error { return s.teamWith(c, http.StatusOK, "") }

func (s *site) teamWith(c *api.Call, status int, refused string) error {
	ctx := c.R.Context()
	p, err := s.round(c)
	if err != nil {
		return err
	}
	p.Error = refused
	if p.Team, err = c.Portal.Team(ctx, c.Who, p.Round.ID, c.Who.Team); err != nil {
		return err
	}
	p.Title = p.Team.Name
	if p.Jobs, err = c.Portal.Jobs(ctx, c.Who, p.Round.ID, c.Who.Team); err != nil {
		return err
	}
	p.Key = runKey(p.Jobs)
	if p.Queue, err = c.Portal.Queue(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	if p.Ghosts, err = c.Portal.Ghosts(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	if len(p.Team.Series) > 0 {
		p.Chart = p.scores([]board.Series{{Team: p.Team.ID, Name: p.Team.Name, Points: p.Team.Series}}, p.minutes(), p.Ghosts...)
	}
	if p.Hints, err = c.Portal.Hints(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	if p.Reached, err = c.Portal.Reached(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	return s.render(c, status, "team", p)
}

// runKey is the key of the next run of a team: it is another one as soon as there is a new job.
func runKey(jobs []api.Job) string {
	latest := int64(0)
	for _, j := range jobs {
		latest = max(latest, j.Number)
	}
	return fmt.Sprintf("page-after-%d", latest)
}

// run enqueues a run. The key of the form makes two clicks one job.
func (s *site) run(c *api.Call) error {
	job, err := c.Portal.Enqueue(c.R.Context(), c.Who, api.Enqueue{Round: c.R.PathValue("round"), Host: c.R.PostFormValue("host"),
		Note: c.R.PostFormValue("note"), Key: c.R.PostFormValue("key")})
	var refused *api.RefusedError
	if errors.As(err, &refused) {
		return s.teamWith(c, http.StatusConflict, refused.Text)
	}
	if err != nil {
		return err
	}
	return to(c, "jobs", job.ID)
}

// job is the page of one run.
func (s *site) job(c *api.Call) error {
	p, err := s.round(c)
	if err != nil {
		return err
	}
	if p.Job, err = c.Portal.Job(c.R.Context(), c.Who, c.R.PathValue("job")); err != nil {
		return err
	}
	p.Title = p.T("run.n", p.Job.Number)
	switch j := p.Job; {
	case j.Result != nil:
		p.Chart = p.growth(j.Result.Growth)
	case j.Progress != nil:
		p.Chart = p.growth(j.Progress.Growth)
	}
	if p.Job.Result != nil {
		jobs, err := c.Portal.Jobs(c.R.Context(), c.Who, p.Round.ID, p.Job.Team)
		if err != nil {
			return err
		}
		p.compare(jobs)
	}
	return s.render(c, http.StatusOK, "job", p)
}

// compare finds the run before the one of the page and the best one of its team.
func (p *page) compare(jobs []api.Job) {
	for i := range jobs {
		j := &jobs[i]
		if j.ID == p.Job.ID || j.Result == nil {
			continue
		}
		if j.Number < p.Job.Number && (p.Before == nil || j.Number > p.Before.Number) {
			p.Before = j
		}
		if p.Best == nil || j.Result.Score > p.Best.Result.Score {
			p.Best = j
		}
	}
}

func (s *site) cancel(c *api.Call) error {
	job, err := c.Portal.Cancel(c.R.Context(), c.Who, c.R.PathValue("job"), "cancelled on its page by "+c.Who.Name)
	if err != nil {
		return err
	}
	return to(c, "jobs", job.ID)
}

// questions are the announcements, and the questions that the reader may see.
func (s *site) questions(c *api.Call) error {
	p, err := s.round(c)
	if err != nil {
		return err
	}
	if p.Messages, err = c.Portal.Messages(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return err
	}
	p.Title = p.T("title.questions")
	return s.render(c, http.StatusOK, "questions", p)
}

func (s *site) ask(c *api.Call) error {
	if _, err := c.Portal.Say(c.R.Context(), c.Who, api.Say{Round: c.R.PathValue("round"), Kind: "question", Text: c.R.PostFormValue("text")}); err != nil {
		return err
	}
	return to(c, "questions")
}

// staffPage leads back to the page of staff.
func staffPage(c *api.Call) error {
	http.Redirect(c.W, c.R, "/staff/"+url.PathEscape(c.R.PathValue("round")), http.StatusSeeOther)
	return nil
}
