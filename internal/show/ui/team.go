package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// A Day is what the page of a team needs besides the history.
type Day struct {
	Book       *turn.Book
	Begin, End time.Time // of the contest; zero if unknown
	// Score gives the score of a run that a person started in a portal: a number, or why it
	// failed. nil offers no field for it.
	Score func(ctx context.Context, run int, who, score, fail string) error
	// Machines are what the machines of the site do at this moment; nil where nothing can tell.
	Machines func() []Machine
	// Difference are the lines of what was changed by hand since the last kept state; nil
	// if nothing can tell.
	Difference func(ctx context.Context) ([]string, error)
}

// teamPage is the data of the page of a team.
type teamPage struct {
	Clock    *clockView
	Turn     turn.State
	Now      time.Time
	Waiting  []summary.Run
	Scores   bool // a score can be given
	Has      bool // the difference can be told
	Changed  []string
	Failed   string // why the difference could not be told
	Findings []teamFinding
	Of       int // run of the findings, 0 for none
	Who      string
	Machines []machineView
}

// A clockView is the clock of a contest.
type clockView struct {
	Begin, End, Now time.Time
	Percent         int // of the contest that is over, 0..100
	Left            string
	State           string // before, running, freeze, over
}

// freezePercent is when nothing new should begin.
const freezePercent = 80

func clockOf(begin, end, now time.Time) *clockView {
	if end.IsZero() {
		return nil
	}
	c := &clockView{Begin: begin, End: end, Now: now, State: "running", Left: Left(end.Sub(now).Abs())}
	switch {
	case !now.Before(end):
		c.State, c.Percent = "over", 100
	case now.Before(begin):
		c.State, c.Left = "before", Left(begin.Sub(now))
	case !begin.IsZero():
		if c.Percent = int(100 * now.Sub(begin) / end.Sub(begin)); c.Percent >= freezePercent {
			c.State = "freeze"
		}
	}
	return c
}

// Left is a time that is left, as people say it: 1h36m, 48 min, 90 s.
func Left(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return report.Duration(d.Round(time.Minute))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// A teamFinding is a finding with who works on it.
type teamFinding struct {
	Key, Code, Anchor, Where, Claim, Gain string
	By                                    string
	Since                                 time.Time
}

// whoCookie keeps the name that a browser gave last.
const whoCookie = "iikanji-who"

// maxTeamFindings bounds the findings of the page.
const maxTeamFindings = 20

// showTeam shows scores, whose turn it is, what waits, and who works on what.
func (s *Server) showTeam(r *http.Request) (*view, error) {
	if s.o.Day == nil {
		return nil, notFound("this target has no team: it is an arena")
	}
	_, sum, err := s.store.load()
	var hinted interface{ Hints() []string }
	if errors.As(err, &hinted) { // no run was made yet: clock and turn count already
		sum, err = &summary.Summary{}, nil
	}
	if err != nil {
		return nil, err
	}
	d := s.o.Day
	p := teamPage{Now: s.o.Now(), Clock: clockOf(d.Begin, d.End, s.o.Now()), Scores: d.Score != nil, Has: d.Difference != nil}
	if p.Turn, err = d.Book.State(); err != nil {
		return nil, err
	}
	if c, err := r.Cookie(whoCookie); err == nil {
		p.Who = turn.Name(c.Value)
	}
	for _, run := range sum.Runs {
		if run.Saved && run.Outcome == iikanji.Pending {
			p.Waiting = append(p.Waiting, run)
		}
	}
	p.Machines = d.machineViews(s.o.Now())
	if p.Has {
		lines, err := d.Difference(r.Context())
		if err != nil {
			p.Failed = report.Clean(redact.Text(err.Error()))
		}
		for _, l := range lines {
			p.Changed = append(p.Changed, report.Clean(redact.Text(l)))
		}
	}
	if err := s.teamFindings(&p, sum); err != nil {
		return nil, err
	}
	return &view{name: "team", title: "Team", here: "/team", tables: []*Table{scoresTable(sum)}, data: p}, nil
}

// teamFindings fills in the findings of the latest observed run.
func (s *Server) teamFindings(p *teamPage, sum *summary.Summary) error {
	if len(sum.Observed) == 0 {
		return nil
	}
	claims, err := s.o.Day.Book.Claims()
	if err != nil {
		return err
	}
	of := &sum.Observed[len(sum.Observed)-1]
	p.Of = int(of.Run)
	seen := map[iikanji.Code]int{}
	for _, f := range of.Findings {
		anchor := string(f.Code)
		if seen[f.Code]++; seen[f.Code] > 1 {
			anchor += "-" + strconv.Itoa(seen[f.Code])
		}
		if len(p.Findings) == maxTeamFindings {
			break
		}
		x := teamFinding{Key: nameKey(string(f.Code) + " " + f.Where), Code: string(f.Code), Anchor: anchor, Where: f.Where, Claim: f.Claim, Gain: document.Gain(f.Gain)}
		if c, ok := claims[x.Key]; ok {
			x.By, x.Since = c.Who, c.At
		}
		p.Findings = append(p.Findings, x)
	}
	return nil
}

// scoresTable lists the runs with who made them and what was noted, the latest first.
func scoresTable(sum *summary.Summary) *Table {
	t := &Table{Name: "scores", Caption: "Scores, the latest first", Columns: []Column{rightColumn("run", "run"), rightColumn("score", "score"),
		leftColumn("outcome", "outcome"), leftColumn("who", "who"), leftColumn("began", "began (UTC)"), leftColumn("notes", "notes")}}
	best := 0.0
	for i := range sum.Runs {
		if sum.Runs[i].Clean {
			best = max(best, sum.Runs[i].Score)
		}
	}
	for i := len(sum.Runs) - 1; i >= 0; i-- {
		r := &sum.Runs[i]
		score := missing()
		if r.Clean {
			score = number(r.Score, document.Points(r.Score))
			if best > 0 {
				score.Bar = r.Score / best
			}
		}
		who := r.Who
		if who == "" {
			who = "-"
		}
		t.Rows = append(t.Rows, []Cell{linked(int(r.ID), "/runs/"), score, text(outcomeOf(r)), text(who), text(r.Began.UTC().Format("15:04:05")), text(strings.Join(r.Notes, "; "))})
	}
	return t
}

// remember keeps the name that a form has, for the next one.
func remember(w http.ResponseWriter, r *http.Request) string {
	who := turn.Name(r.PostFormValue("who"))
	if plain := strings.Map(func(c rune) rune {
		if c > ' ' && c < 0x7f && c != ';' && c != ',' && c != '"' && c != '\\' {
			return c
		}
		return -1
	}, who); plain != "" {
		http.SetCookie(w, &http.Cookie{Name: whoCookie, Value: plain, Path: "/team", MaxAge: 86_400, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	return who
}

// giveScore takes the score of a run.
func (s *Server) giveScore(w http.ResponseWriter, r *http.Request) {
	if s.o.Day == nil || s.o.Day.Score == nil {
		s.fail(w, r, notFound("scores cannot be given here"))
		return
	}
	who := remember(w, r)
	run, err := strconv.Atoi(r.PostFormValue("run"))
	score, fail := strings.TrimSpace(r.PostFormValue("score")), strings.TrimSpace(r.PostFormValue("fail"))
	switch {
	case err != nil || run < 1:
		s.wrong(w, r, "want the number of a run")
		return
	case who == "":
		s.wrong(w, r, "say who you are")
		return
	case (score == "") == (fail == ""):
		s.wrong(w, r, "give either a score or why the run failed")
		return
	}
	if err := s.o.Day.Score(r.Context(), run, who, score, fail); err != nil {
		s.wrong(w, r, "the score of run %d was not taken: %v", run, err)
		return
	}
	s.o.Log.Info("a score was given", "run", run, "who", who)
	http.Redirect(w, r, "/team", http.StatusSeeOther)
}

// claim notes who works on a finding.
func (s *Server) claim(w http.ResponseWriter, r *http.Request) {
	if s.o.Day == nil {
		s.fail(w, r, notFound("this target has no team"))
		return
	}
	key, who := r.PostFormValue("finding"), remember(w, r)
	if len(key) != 12 || strings.Trim(key, "0123456789abcdef") != "" {
		s.wrong(w, r, "want the key of a finding")
		return
	}
	if r.PostFormValue("free") != "" {
		who = ""
	} else if who == "" {
		s.wrong(w, r, "say who you are")
		return
	}
	if err := s.o.Day.Book.Claim(r.Context(), key, who); err != nil {
		s.fail(w, r, fmt.Errorf("noting who works on it: %w", err))
		return
	}
	http.Redirect(w, r, "/team#findings", http.StatusSeeOther)
}
