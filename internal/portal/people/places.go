package people

import (
	"encoding/json"

	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// States of a team; "" takes part.
const (
	asked     = lead.TeamAsked
	waits     = lead.TeamWaiting
	denied    = lead.TeamRefused
	withdrawn = "withdrawn"
)

// Places are how many places of a contest are taken. A team that waits for staff has one.
type places struct {
	most, reserved int // most is 0 for no limit
	plain, coded   int // teams that have a place without and with a code
	waiting        int
}

func placesOf(tx *store.Tx, c *contest.Contest) (places, error) {
	p := places{most: c.Registration.Teams, reserved: c.Registration.Reserved}
	return p, tx.Each("SELECT t.gone, COALESCE(s.code, '') FROM teams t LEFT JOIN signups s ON s.team = t.id WHERE t.contest = ?", []any{c.ID}, func(scan func(...any) error) error {
		state, code := "", ""
		err := scan(&state, &code)
		switch {
		case state == waits:
			p.waiting++
		case state != "" && state != asked:
		case code == "":
			p.plain++
		default:
			p.coded++
		}
		return err
	})
}

// free is how many teams without a code find a place; −1 for any number.
func (p places) free() int {
	if p.most == 0 {
		return -1
	}
	return max(0, p.most-max(p.coded, p.reserved)-p.plain)
}

// room reports whether a team finds a place. One with a code may have a reserved one.
func (p places) room(coded bool) bool {
	if coded {
		return p.most == 0 || p.plain+p.coded < p.most
	}
	return p.free() != 0
}

// advance gives free places to those who wait, in their order. who is the cause.
func (s *Service) advance(tx *store.Tx, c *contest.Contest, who string) error {
	for {
		p, err := placesOf(tx, c)
		if err != nil {
			return err
		}
		if p.waiting == 0 || !p.room(false) {
			return nil
		}
		next, err := readTeams(tx, "WHERE t.contest = ? AND t.gone = 'waiting' ORDER BY s.place LIMIT 1", c.ID)
		if err != nil || len(next) == 0 {
			return err
		}
		state := ""
		if c.Registration.Approval {
			state = asked
		}
		if err := s.become(tx, next[0], who, state, ""); err != nil {
			return err
		}
	}
}

// become changes the state of a team, with its event and its line in the audit log.
func (s *Service) become(tx *store.Tx, t *team, who, state, reason string) error {
	if _, err := tx.Exec("UPDATE teams SET gone = ?, gone_at = ? WHERE id = ?", state, s.core.Now(), t.id); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE signups SET reason = ? WHERE team = ?", reason, t.id); err != nil {
		return err
	}
	body, err := json.Marshal(lead.TeamEvent{From: t.state, To: state, Reason: reason})
	if err != nil {
		return err
	}
	if err := s.core.Audit(tx, who, "team "+t.id, string(body)); err != nil {
		return err
	}
	return s.core.TeamChanged(tx, t.contest, t.id, body)
}
