package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// staff is one screen: queue, workers, open questions, the clock.
func (s *site) staff(c *api.Call) error {
	ctx := c.R.Context()
	p, err := s.round(c)
	if err != nil {
		return err
	}
	if p.Board, err = c.Portal.Board(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	if p.Queue, err = c.Portal.Queue(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	if p.Workers, err = c.Portal.Workers(ctx, c.Who); err != nil {
		return err
	}
	if p.Messages, err = c.Portal.Messages(ctx, c.Who, p.Round.ID); err != nil {
		return err
	}
	if p.Jobs, err = c.Portal.Jobs(ctx, c.Who, p.Round.ID, ""); err != nil {
		return err
	}
	p.Jobs = p.Jobs[:min(len(p.Jobs), mostJobs)]
	if c.Notices != nil {
		if p.Undelivered, err = c.Notices.Undelivered(ctx, c.Who); err != nil {
			return err
		}
		p.Undelivered = p.Undelivered[:min(len(p.Undelivered), mostJobs)]
	}
	return s.render(c, http.StatusOK, "staff", p)
}

// mostJobs is how many of the latest runs the page of staff lists.
const mostJobs = 30

// Answered reports whether a question has an answer.
func (p page) Answered(id string) bool {
	for _, m := range p.Messages {
		if m.Kind == "answer" && m.To == id {
			return true
		}
	}
	return false
}

// say answers a question or announces.
func (s *site) say(c *api.Call) error {
	say := api.Say{Round: c.R.PathValue("round"), Kind: "announcement", Text: c.R.PostFormValue("text"), To: c.R.PostFormValue("to"), Public: c.R.PostFormValue("public") != ""}
	if say.To != "" {
		say.Kind = "answer"
	}
	if _, err := c.Portal.Say(c.R.Context(), c.Who, say); err != nil {
		return err
	}
	return staffPage(c)
}

// claim lets the reader alone answer a question.
func (s *site) claim(c *api.Call) error {
	if err := c.Portal.ClaimQuestion(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PostFormValue("to")); err != nil {
		return err
	}
	return staffPage(c)
}

// worker gives a worker no more runs, or lets it work again.
func (s *site) worker(c *api.Call) error {
	if err := c.Portal.Hold(c.R.Context(), c.Who, c.R.PostFormValue("worker"), c.R.PostFormValue("hold") != "", c.R.PostFormValue("reason")); err != nil {
		return err
	}
	return staffPage(c)
}

// clock is an act on the clock.
func (s *site) clock(c *api.Call) error {
	act := contest.Act{Kind: contest.ActKind(c.R.PostFormValue("act")), Reason: c.R.PostFormValue("reason"), Team: c.R.PostFormValue("team")}
	if text := c.R.PostFormValue("minutes"); text != "" {
		minutes, err := strconv.Atoi(text)
		if err != nil {
			return &api.BadRequestError{Text: "the minutes are no whole number"}
		}
		act.By = time.Duration(minutes) * time.Minute
	}
	if _, err := c.Portal.Act(c.R.Context(), c.Who, c.R.PathValue("round"), act); err != nil {
		return err
	}
	return staffPage(c)
}

// States are those that the round may be moved to.
func (p page) States() []contest.State { return contest.Next(p.Round.State) }

// state moves the round to another state.
func (s *site) state(c *api.Call) error {
	if _, err := c.Portal.Move(c.R.Context(), c.Who, c.R.PathValue("round"), contest.State(c.R.PostFormValue("to"))); err != nil {
		return err
	}
	return staffPage(c)
}
