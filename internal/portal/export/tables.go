package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/chart"
)

// actOf is an act on a clock. Who made it is for staff.
func actOf(body string, form Form) (a contest.Act) {
	_ = json.Unmarshal([]byte(body), &a) // the portal wrote it
	if form == Public {
		a.Who = ""
	}
	return a
}

// teams writes the teams that a board has; the form of staff has all, and their members.
func (w *writer) teams(tx *store.Tx) error {
	var b, people bytes.Buffer
	row(&b, "team", "name", "division", "gone", "gone_at", "created")
	err := tx.Each("SELECT id, name, division, gone, gone_at, created FROM teams WHERE contest = ? ORDER BY created, id", []any{w.id}, func(scan func(...any) error) error {
		id, name, division, gone := "", "", "", ""
		var goneAt, created time.Time
		if err := scan(&id, &name, &division, &gone, &goneAt, &created); err != nil {
			return err
		}
		if w.form == Public && (gone == lead.TeamAsked || gone == lead.TeamWaiting || gone == lead.TeamRefused) {
			return nil
		}
		w.names[id] = name
		row(&b, id, cell(name), division, gone, stamp(goneAt), stamp(created))
		return nil
	})
	if err != nil {
		return err
	}
	if w.files["teams.tsv"] = b.Bytes(); w.form == Public {
		return nil
	}
	row(&people, "account", "name", "team", "leads", "declares")
	err = tx.Each("SELECT m.account, a.name, m.team, m.leads, m.declares FROM members m JOIN accounts a ON a.id = m.account WHERE m.contest = ? ORDER BY m.joined, m.account", []any{w.id}, func(scan func(...any) error) error {
		account, name, team, declares, leads := "", "", "", "", false
		err := scan(&account, &name, &team, &leads, &declares)
		row(&people, account, cell(name), team, strconv.FormatBool(leads), declares)
		return err
	})
	w.files["people.tsv"] = people.Bytes()
	return err
}

// messages writes questions with their answers, and announcements, as the reader may see them.
func (w *writer) messages(tx *store.Tx, rounds []string) error {
	who := api.Who{Role: api.Spectator}
	if w.form == Staff {
		who.Role = api.Viewer
	}
	var questions []api.Message
	var b bytes.Buffer
	for _, id := range rounds {
		err := tx.Each("SELECT id, kind, at, team, reply, open, body FROM messages WHERE round = ? ORDER BY at, id", []any{id}, func(scan func(...any) error) error {
			m := api.Message{Round: id}
			if err := scan(&m.ID, &m.Kind, &m.At, &m.Team, &m.To, &m.Public, &m.Text); err != nil {
				return err
			}
			m, ok := m.For(who, w.at.At)
			switch {
			case !ok:
			case m.Kind == "announcement":
				fmt.Fprintf(&b, "## %s\n\n%s\n\n", m.At.Format("2006-01-02 15:04:05 MST"), indented(m.Text))
			}
			if ok {
				questions = append(questions, m)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	w.files["announcements.md"] = append([]byte("# Announcements\n\n"), b.Bytes()...)
	var err error
	w.files["questions.jsonl"], err = lines(questions)
	return err
}

// indented is a text as a block of Markdown that has no markup.
func indented(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

// markdown is a text in a cell of a table of Markdown.
func markdown(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "[", "\\[", "`", "\\`", "*", "\\*", "_", "\\_", "\n", " ").Replace(text)
}

// boards writes the board of a round as the reader sees it, and its history. Before the final
// scores are shown the board is the provisional one.
func (w *writer) boards(id string, h *lead.History, v *board.View) error {
	kind := "provisional"
	for _, r := range v.Rows {
		if r.Final {
			kind = "final"
		}
	}
	name := "boards/" + id + "-" + kind
	text, err := json.MarshalIndent(api.BoardOf(id, v), "", " ")
	if err != nil {
		return fmt.Errorf("writing a board: %w", err)
	}
	w.files[name+".json"] = append(text, '\n')
	var table, page, history bytes.Buffer
	row(&table, "rank", "team", "name", "division", "standing", "best", "runs", "gone")
	fmt.Fprintf(&page, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>%s</title>\n<table>\n<tr><th>rank<th>team<th>standing<th>best<th>runs\n", html.EscapeString(id))
	row(&history, "minute", "at", "team", "name", "score", "passed")
	plot := &chart.Plot{Title: id, YName: "score", XLo: 0, XHi: 1, Height: 400, Format: func(v float64) string { return fmt.Sprintf("%.0f", v) }}
	for i, r := range v.Rows {
		row(&table, strconv.Itoa(r.Rank), r.Team, cell(r.Name), r.Division, number(r.Standing), number(r.Best), strconv.Itoa(r.Runs), r.Gone)
		fmt.Fprintf(&page, "<tr><td>%d<td>%s<td>%s<td>%s<td>%d\n", r.Rank, html.EscapeString(r.Name), number(r.Standing), number(r.Best), r.Runs)
		for _, s := range v.Series(r.Team) {
			line := chart.Series{Name: s.Name, Colour: chart.Colour(i + 1), Line: true, Bare: true}
			for _, p := range s.Points {
				row(&history, fmt.Sprintf("%.3f", p.Minute), stamp(p.At), s.Team, cell(s.Name), number(p.Score), strconv.FormatBool(p.Passed))
				line.Points, plot.XHi = append(line.Points, chart.Point{X: p.Minute, Y: p.Score}), max(plot.XHi, p.Minute)
			}
			if i < 6 && len(line.Points) > 0 {
				plot.Series = append(plot.Series, line)
			}
		}
	}
	page.WriteString("</table>\n")
	w.files[name+".tsv"], w.files[name+".html"], w.files["history/"+id+".tsv"] = table.Bytes(), page.Bytes(), history.Bytes()
	if len(plot.Series) > 0 {
		w.files["history/"+id+".svg"] = []byte(plot.At(1000))
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// audit writes the audit log: all of it, as each line has the hash of the one before.
func (w *writer) audit(tx *store.Tx) error {
	type line struct {
		Number int64     `json:"number"`
		At     time.Time `json:"at"`
		Who    string    `json:"who"`
		What   string    `json:"what"`
		Body   string    `json:"body"`
		Chain  string    `json:"chain"`
	}
	var all []line
	err := tx.Each("SELECT number, at, account, what, body, chain FROM audit ORDER BY number", nil, func(scan func(...any) error) error {
		l := line{}
		err := scan(&l.Number, &l.At, &l.Who, &l.What, &l.Body, &l.Chain)
		all = append(all, l)
		return err
	})
	if err != nil {
		return err
	}
	w.files["audit.jsonl"], err = lines(all)
	return err
}
