package people

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A Service acts on who takes part. It is safe for concurrent use.
type Service struct{ core *lead.Core }

var _ api.People = (*Service)(nil)

// New is a service on a portal's state.
func New(core *lead.Core) *Service { return &Service{core} }

// refused is what the state of the contest does not allow. Pages show code in the language of
// the reader.
func refused(code, format string, args ...any) error {
	return &api.RefusedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

var (
	errClosed = refused("registration-closed", "the registration is not open for this")
	errFull   = refused("team-full", "the team has as many members as it may have")
	errMember = refused("member", "the account is a member of a team of this contest already")
)

// notFound is api.ErrNotFound for a row that is not there.
func notFound(err error) error {
	if errors.Is(err, store.ErrNone) {
		return api.ErrNotFound
	}
	return err
}

// cleaned is a line of at most n bytes.
func cleaned(text string, n int) string {
	return plain.CutBytes(plain.Line(strings.TrimSpace(text)), n)
}

// act runs an act on a contest in one transaction. Acts on one contest are one after the other:
// they count places.
func (s *Service) act(ctx context.Context, name, contestID string, do func(*store.Tx, *contest.Contest) error) error {
	err := s.core.Write(ctx, name, func(tx *store.Tx) error {
		n, err := tx.Exec("UPDATE contests SET created = created WHERE id = ?", contestID)
		if err != nil {
			return err
		}
		if n == 0 {
			return api.ErrNotFound
		}
		c, err := s.core.ContestIn(tx, contestID)
		if err != nil {
			return err
		}
		return do(tx, c)
	})
	s.core.Wake()
	return err
}

// ContestOf implements api.People.
func (s *Service) ContestOf(ctx context.Context, job string) (string, error) {
	round := ""
	err := s.core.Read(ctx, func(tx *store.Tx) error {
		return notFound(tx.Row("SELECT round FROM jobs WHERE id = ?", []any{job}, &round))
	})
	contestID, _, _ := strings.Cut(round, "_")
	return contestID, err
}

// Contest implements api.People.
func (s *Service) Contest(ctx context.Context, who api.Who, id string) (out *api.Contest, err error) {
	err = s.core.Read(ctx, func(tx *store.Tx) error {
		c, err := s.core.ContestIn(tx, id)
		if err != nil {
			return err
		}
		r, now := &c.Registration, s.core.Now()
		out = &api.Contest{ID: id, Name: c.Name, Zone: c.Zone, Now: now, Open: r.Open, Close: r.Close, JoinClose: r.JoinClose, EditClose: r.EditClose,
			Creating: r.Opened(r.Close, now), Joining: r.Opened(r.JoinClose, now), Editing: r.Opened(r.EditClose, now),
			Entry: r.Entry, Approval: r.Approval, Places: r.Teams, Most: r.Members, Terms: r.Terms, Questions: r.Questions}
		for _, division := range c.DivisionIDs() {
			word, _ := c.Division(division)
			d := api.Division{ID: division, Word: word}
			for _, own := range c.Divisions {
				if own.ID == division {
					d.Title = own.Title
				}
			}
			out.Divisions = append(out.Divisions, d)
		}
		if out.Teams, err = entrants(tx, id); err != nil {
			return err
		}
		p, err := placesOf(tx, c)
		if err != nil {
			return err
		}
		out.Free, out.Waiting = p.free(), p.waiting
		if who.Account == "" {
			return nil
		}
		if out.Seekers, err = seekers(tx, id, who); err != nil {
			return err
		}
		if mine := who.At(id); mine.Team != "" {
			out.Mine, err = s.mine(tx, c, mine)
		}
		return err
	})
	return out, err
}

// entrants are the teams that take part, as everyone may see them.
func entrants(tx *store.Tx, contestID string) (out []api.Entrant, err error) {
	err = tx.Each("SELECT t.id, t.name, t.division, (SELECT COUNT(*) FROM members m WHERE m.team = t.id) FROM teams t WHERE t.contest = ? AND t.gone = '' ORDER BY t.created, t.id", []any{contestID}, func(scan func(...any) error) error {
		e := api.Entrant{}
		err := scan(&e.Team, &e.Name, &e.Division, &e.Members)
		out = append(out, e)
		return err
	})
	return out, err
}
