package lead

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

const (
	maxMessage   = 4000 // bytes
	maxQuestions = 5    // of a team that wait for an answer
)

// Say keeps a message: an announcement or an answer of staff, or a team's question.
func (c *Core) Say(ctx context.Context, who api.Who, s api.Say) (*api.Message, error) {
	text := plain.Text(strings.TrimSpace(s.Text))
	if text == "" || len(text) > maxMessage {
		return nil, refused("text", "a message has 1 to %d bytes", maxMessage)
	}
	m := &api.Message{ID: c.newID(), Round: s.Round, Kind: s.Kind, By: who.Name, Text: text, Public: s.Public}
	if s.Key != "" { // the same request again has the same id
		m.ID = Digest(who.Account + "\x00" + s.Key)
	}
	err := c.store.Write(ctx, "say", func(tx *store.Tx) error {
		known := 0
		if err := tx.Row("SELECT COUNT(*) FROM messages WHERE id = ?", []any{m.ID}, &known); err != nil || known > 0 {
			return err
		}
		if _, err := c.round(tx, s.Round); err != nil {
			return err
		}
		m.At = c.Now()
		switch s.Kind {
		case "announcement":
			m.Public, m.Team = s.Team == "", s.Team
		case "question":
			if m.Team = who.Team; m.Team == "" {
				return api.ErrForbidden
			}
			m.Public = false
			open := 0
			err := tx.Row("SELECT COUNT(*) FROM messages q WHERE q.round = ? AND q.team = ? AND q.kind = 'question' AND NOT EXISTS (SELECT 1 FROM messages a WHERE a.reply = q.id)", []any{s.Round, m.Team}, &open)
			if err != nil {
				return err
			}
			if open >= maxQuestions {
				return refused("questions", "%d questions of the team wait for an answer", open)
			}
		case "answer":
			if err := tx.Row("SELECT team FROM messages WHERE id = ? AND round = ? AND kind = 'question'", []any{s.To, s.Round}, &m.Team); err != nil {
				return notFound(err)
			}
			if err := c.claimed(tx, who, s.Round, s.To); err != nil {
				return err
			}
			m.To = s.To
		default:
			return refused("kind", "there is no kind of message %q", plain.Line(s.Kind))
		}
		return c.keep(tx, who, m)
	})
	if err != nil {
		return nil, err
	}
	c.Wake()
	return m, nil
}

// keep writes a message with its event and its one delivery on the page.
func (c *Core) keep(tx *store.Tx, who api.Who, m *api.Message) error {
	if _, err := tx.Exec("INSERT INTO messages (id, round, kind, at, account, team, reply, open, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		m.ID, m.Round, m.Kind, m.At, who.Account, m.Team, m.To, m.Public, m.Text); err != nil {
		return err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.event(tx, Event{Round: m.Round, Kind: KindMessage, Team: m.Team, Body: body})
}
