package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

//go:embed templates static words
var files embed.FS

// A site is the pages, read once.
type site struct {
	words     map[language]dictionary
	templates map[string]*template.Template
}

// pageNames are the templates besides the layout.
var pageNames = []string{"home", "login", "board", "tv", "other", "team", "job", "questions", "staff", "error", "contest", "join", "invitation", "desk", "me", "hosts", "final", "prizes", "train", "ghosts", "flags"}

// newSite reads the templates and the words. An error is a mistake of the program.
func newSite() (*site, error) {
	s := &site{words: map[language]dictionary{}, templates: map[string]*template.Template{}}
	for _, l := range languages {
		text, err := files.ReadFile("words/" + string(l) + ".toml")
		if err == nil {
			s.words[l], err = readWords(text)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the words of %s: %w", l, err)
		}
	}
	for _, name := range pageNames {
		t, err := template.New("").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("reading the template of %s: %w", name, err)
		}
		s.templates[name] = t
	}
	return s, nil
}

// functions are what templates can call.
var functions = template.FuncMap{"spark": spark, "add": func(a, b int) int { return a + b }}

// A page is what a template gets.
type page struct {
	Title string
	Lang  language
	Who   api.Who
	Form  string
	Path  string // of this page, for the choice of the language
	TV    bool

	Rounds        []api.Round
	Round         *api.Round
	Board         *api.Board
	Division      string
	Divisions     []string
	Team          *api.Team
	Jobs          []api.Job
	Job           *api.Job
	Queue         *api.Queue
	Messages      []api.Message
	Workers       []api.Worker
	Hosts         []api.Host
	Made          *api.MadeHost // a machine that was registered just now
	Final         *api.FinalState
	Ghosts        []board.GhostLine
	Hints         []api.Hint
	Reached       []board.Reached // of the own team
	Trainees      []api.Trainee
	Flags         []api.Flag
	Chart         template.HTML
	Before        *api.Job // the team's run before the one that is shown
	Best          *api.Job
	Contest       *api.Contest
	Invitation    *api.Invitation
	Applied       []api.Applied
	Link          string     // a link or a code that was just made
	Typed         url.Values // of a form that was refused
	Providers     []api.Provider
	Taking        bool   // an account may be made now
	Goal          string // where a login leads to
	Sessions      []api.Session
	Secret        string // for a new authenticator
	Notices       bool   // people are told outside of the pages
	PushKey       string
	Mails         bool
	Subscriptions []api.Subscription
	Undelivered   []api.Delivery
	Passwords     bool // there are ways in beside links

	Token string
	Key   string // makes a form that is sent twice one job
	Error string

	words dictionary
}

// T is a text of the page's language, with its arguments.
func (p page) T(key string, args ...any) string {
	text, ok := p.words[key]
	if !ok {
		return "⟨" + key + "⟩" // TestWords finds it
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// In is a text of the contest file in the page's language.
func (p page) In(t contest.Text) string { return t.In(string(p.Lang)) }

// Score is a score with separators.
func (page) Score(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "−", text[1:]
	}
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// Clock is a time of day in the contest's zone.
func (p page) Clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return p.local(t).Format("15:04:05")
}

// Date is a date and time in the contest's zone.
func (p page) Date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if p.Lang == japanese {
		return p.local(t).Format("2006年1月2日 15:04")
	}
	return p.local(t).Format("2 January 2006, 15:04")
}

// local is a time in the contest's zone.
func (p page) local(t time.Time) time.Time {
	zone := ""
	switch {
	case p.Round != nil:
		zone = p.Round.Zone
	case p.Contest != nil:
		zone = p.Contest.Zone
	}
	if at, err := time.LoadLocation(zone); err == nil {
		t = t.In(at)
	}
	return t
}

// Long is a duration of a clock: 7:59:30, 0:42.
func (page) Long(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Seconds is a duration in whole seconds, for the script.
func (page) Seconds(d time.Duration) int { return int(d.Round(time.Second).Seconds()) }

// State is the word of a round's state.
func (p page) State(s contest.State) string { return p.T("state." + string(s)) }

// JobState is the word of a job's state.
func (p page) JobState(s api.JobState) string { return p.T("job." + string(s)) }

// Trend is the word of a trend.
func (p page) Trend(row board.Row) string {
	switch row.Trend {
	case 1:
		return p.T("trend.up")
	case -1:
		return p.T("trend.down")
	}
	return p.T("trend.same")
}

// Other is the other language.
func (p page) Other() language {
	if p.Lang == japanese {
		return english
	}
	return japanese
}

// render writes a page.
func (s *site) render(c *api.Call, status int, name string, p page) error {
	p.Lang = languageOf(c)
	p.Who, p.Form, p.Path, p.words = c.Who, c.Form, c.R.URL.Path, s.words[p.Lang]
	if key, ok := strings.CutPrefix(p.Title, "title."); ok {
		p.Title = p.T("title." + key)
	}
	var text bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&text, "layout", p); err != nil {
		return fmt.Errorf("making the page %s: %w", name, err)
	}
	h := c.W.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(p.Lang))
	h.Add("Vary", "Accept-Language, Cookie")
	if status != http.StatusOK {
		c.W.WriteHeader(status)
	}
	_, _ = text.WriteTo(c.W) // an error: the reader is gone
	return nil
}

// TeamName is the name of a team of the page's board, or its id.
func (p page) TeamName(id string) string {
	if p.Board != nil {
		for _, r := range p.Board.Rows {
			if r.Team == id {
				return r.Name
			}
		}
	}
	return id
}

// Percent is a share in percent.
func (page) Percent(share *float64) float64 { return 100 * *share }

// Ratio is one score over another, and whether it is within the noise of single runs where that is
// known; "–" if there is none.
func (p page) Ratio(a, b float64) string {
	if a <= 0 || b <= 0 {
		return "–"
	}
	text := fmt.Sprintf("×%.2f", a/b)
	if p.Round != nil && math.Abs(math.Log(a/b)) < (api.Noise{SD: p.Round.Noise}).Least() {
		text += " " + p.T("within")
	}
	return text
}
