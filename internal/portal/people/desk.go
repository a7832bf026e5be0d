package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// desk holds a caller to those who decide who takes part.
func desk(who api.Who) error {
	if who.Role != api.Support && who.Role != api.Organiser {
		return api.ErrForbidden
	}
	return nil
}

// Applied implements api.People.
func (s *Service) Applied(ctx context.Context, who api.Who, contestID string) (out []api.Applied, err error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	err = s.core.Read(ctx, func(tx *store.Tx) error {
		c, err := s.core.ContestIn(tx, contestID)
		if err != nil {
			return err
		}
		teams, err := readTeams(tx, "WHERE t.contest = ? ORDER BY t.created, t.id", contestID)
		if err != nil {
			return err
		}
		for _, t := range teams {
			m, err := s.own(tx, c, t, false)
			if err != nil {
				return err
			}
			out = append(out, api.Applied{Mine: *m, Created: t.created, Coded: t.code != ""})
		}
		return nil
	})
	return out, err
}

// Decide implements api.People.
func (s *Service) Decide(ctx context.Context, who api.Who, contestID string, d api.Decision) error {
	if err := desk(who); err != nil {
		return err
	}
	reason := cleaned(d.Reason, maxReason)
	return s.act(ctx, "decide", contestID, func(tx *store.Tx, c *contest.Contest) error {
		t, err := readTeam(tx, c.ID, d.Team)
		if err != nil {
			return err
		}
		if reason == "" && d.Act != "admit" {
			return refused("reason", "this act needs a reason, which the team is told")
		}
		to := map[string]string{"admit": "", "refuse": denied, "withdraw": withdrawn, "restore": ""}
		from := map[string][]string{"admit": {asked, waits, denied}, "refuse": {asked, waits}, "withdraw": {"", asked, waits}, "restore": {withdrawn}}
		if d.Act == "division" {
			return s.override(tx, c, t, who.Account, d.Division, reason)
		}
		if !slices.Contains(from[d.Act], t.state) {
			return refused("state", "a team that is %q cannot be changed by %q", t.state, d.Act)
		}
		if err := s.become(tx, t, who.Account, to[d.Act], reason); err != nil {
			return err
		}
		return s.advance(tx, c, who.Account)
	})
}

// override gives a team a division whatever its members declare.
func (s *Service) override(tx *store.Tx, c *contest.Contest, t *team, who, division, reason string) error {
	if _, known := c.Division(division); !known {
		return refused("division", "there is no such division")
	}
	if _, err := tx.Exec("UPDATE teams SET division = ? WHERE id = ?", division, t.id); err != nil {
		return err
	}
	if err := s.core.Audit(tx, who, "division", fmt.Sprintf("%s: %s → %s: %s", t.id, t.division, division, reason)); err != nil {
		return err
	}
	return s.core.TeamChanged(tx, c.ID, t.id, nil)
}

// Code implements api.People.
func (s *Service) Code(ctx context.Context, who api.Who, contestID string, n int, note string) (string, error) {
	if err := desk(who); err != nil {
		return "", err
	}
	code := lead.RandomID()
	return code, s.act(ctx, "code", contestID, func(tx *store.Tx, c *contest.Contest) error {
		given := 0
		if err := tx.Row("SELECT COALESCE(SUM(places), 0) FROM codes WHERE contest = ?", []any{c.ID}, &given); err != nil {
			return err
		}
		if most := c.Registration.Reserved; n < 1 || n > 1000 || most > 0 && given+n > most {
			return refused("places", "a code has 1 to 1000 places; %d of %d reserved ones are given", given, most)
		}
		if _, err := tx.Exec("INSERT INTO codes (digest, contest, places, used, note, created) VALUES (?, ?, ?, 0, ?, ?)", lead.Digest(code), c.ID, n, cleaned(note, 180), s.core.Now()); err != nil {
			return err
		}
		return s.core.Audit(tx, who.Account, "code", fmt.Sprintf("%s: %d places: %s", c.ID, n, cleaned(note, 180)))
	})
}

// maxList is the longest list of those who may make a team.
const maxList = 10_000

// List implements api.People.
func (s *Service) List(ctx context.Context, who api.Who, contestID string, names []string) error {
	if err := desk(who); err != nil {
		return err
	}
	if len(names) > maxList {
		return refused("list", "the list has more than %d lines", maxList)
	}
	return s.act(ctx, "list", contestID, func(tx *store.Tx, c *contest.Contest) error {
		if _, err := tx.Exec("DELETE FROM entrants WHERE contest = ?", c.ID); err != nil {
			return err
		}
		known := map[string]bool{}
		for _, name := range names {
			name = lead.Folded(cleaned(name, 180))
			if name == "" || known[name] {
				continue
			}
			known[name] = true
			if _, err := tx.Exec("INSERT INTO entrants (contest, folded) VALUES (?, ?)", c.ID, name); err != nil {
				return err
			}
		}
		return s.core.Audit(tx, who.Account, "list", fmt.Sprintf("%s: %d", c.ID, len(known)))
	})
}

// Seats implements api.People.
func (s *Service) Seats(ctx context.Context, who api.Who, contestID string, seats map[string]api.Seat) error {
	if err := desk(who); err != nil {
		return err
	}
	return s.act(ctx, "seats", contestID, func(tx *store.Tx, c *contest.Contest) error {
		if _, err := tx.Exec("DELETE FROM seats WHERE contest = ?", c.ID); err != nil {
			return err
		}
		for name, seat := range seats {
			id := ""
			if err := tx.Row("SELECT id FROM teams WHERE contest = ? AND folded = ?", []any{c.ID, lead.Folded(strings.TrimSpace(name))}, &id); err != nil {
				if errors.Is(err, store.ErrNone) {
					return refused("seats", "there is no team %q", cleaned(name, 60))
				}
				return err
			}
			if _, err := tx.Exec("INSERT INTO seats (contest, team, room, seat, port) VALUES (?, ?, ?, ?, ?)", c.ID, id, cleaned(seat.Room, 60), cleaned(seat.Seat, 60), cleaned(seat.Port, 60)); err != nil {
				return err
			}
		}
		return s.core.Audit(tx, who.Account, "seats", fmt.Sprintf("%s: %d", c.ID, len(seats)))
	})
}
