package people

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A team is a row of the table teams with what it signed up by, and its members.
type team struct {
	id, contest, name, division, state, code, reason string
	place                                            int64
	created                                          time.Time
	answers                                          map[string]string
	people                                           []api.Person
}

const teamColumns = "SELECT t.id, t.contest, t.name, t.division, t.gone, t.created, COALESCE(s.place, 0), COALESCE(s.code, ''), COALESCE(s.answers, '{}'), COALESCE(s.reason, '') FROM teams t LEFT JOIN signups s ON s.team = t.id "

// readTeams reads teams with their members.
func readTeams(tx *store.Tx, where string, args ...any) (out []*team, err error) {
	err = tx.Each(teamColumns+where, args, func(scan func(...any) error) error {
		t, answers := &team{}, ""
		if err := scan(&t.id, &t.contest, &t.name, &t.division, &t.state, &t.created, &t.place, &t.code, &answers, &t.reason); err != nil {
			return err
		}
		out = append(out, t)
		if err := json.Unmarshal([]byte(answers), &t.answers); err != nil {
			return fmt.Errorf("reading the answers of a team: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range out {
		if t.people, err = members(tx, t.id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readTeam reads one team of a contest.
func readTeam(tx *store.Tx, contestID, id string) (*team, error) {
	all, err := readTeams(tx, "WHERE t.id = ? AND t.contest = ?", id, contestID)
	if err == nil && len(all) == 0 {
		err = api.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func members(tx *store.Tx, team string) (out []api.Person, err error) {
	err = tx.Each("SELECT m.account, a.name, m.leads, m.declares FROM members m JOIN accounts a ON a.id = m.account WHERE m.team = ? ORDER BY m.joined, m.account", []any{team}, func(scan func(...any) error) error {
		p, words := api.Person{}, ""
		err := scan(&p.Account, &p.Name, &p.Leads, &words)
		p.Declares = strings.Fields(words)
		out = append(out, p)
		return err
	})
	return out, err
}

// leads reports whether an account leads the team.
func (t *team) leads(account string) bool {
	return slices.ContainsFunc(t.people, func(p api.Person) bool { return p.Account == account && p.Leads })
}

// has reports whether an account is a member.
func (t *team) has(account string) bool {
	return slices.ContainsFunc(t.people, func(p api.Person) bool { return p.Account == account })
}

// open reports whether the team takes part or may still do so.
func (t *team) open() bool { return t.state == "" || t.state == asked || t.state == waits }

// entrant is the team as everyone may see it.
func (t *team) entrant() api.Entrant {
	return api.Entrant{Team: t.id, Name: t.name, Division: t.division, Members: len(t.people)}
}

// mine is the caller's team. who is the caller in the contest.
func (s *Service) mine(tx *store.Tx, c *contest.Contest, who api.Who) (*api.Mine, error) {
	t, err := readTeam(tx, c.ID, who.Team)
	if err != nil {
		return nil, err
	}
	return s.own(tx, c, t, t.leads(who.Account))
}

// own is a team as its members and staff see it.
func (s *Service) own(tx *store.Tx, c *contest.Contest, t *team, leads bool) (*api.Mine, error) {
	m := &api.Mine{Contest: c.ID, Entrant: t.entrant(), State: t.state, Reason: t.reason, Leads: leads, Answers: t.answers, People: t.people}
	links := 0
	if err := tx.Row("SELECT COUNT(*) FROM invitations WHERE team = ?", []any{t.id}, &links); err != nil {
		return nil, err
	}
	m.Invited = links > 0
	if t.state == waits {
		before := 0
		if err := tx.Row("SELECT COUNT(*) FROM teams t JOIN signups s ON s.team = t.id WHERE t.contest = ? AND t.gone = 'waiting' AND s.place < ?", []any{c.ID, t.place}, &before); err != nil {
			return nil, err
		}
		m.Place = before + 1
	}
	seat := &api.Seat{}
	switch err := tx.Row("SELECT room, seat, port FROM seats WHERE contest = ? AND team = ?", []any{c.ID, t.id}, &seat.Room, &seat.Seat, &seat.Port); {
	case err == nil:
		m.Seat = seat
	case !errors.Is(err, store.ErrNone):
		return nil, err
	}
	var err error
	m.Lacks, err = lacks(tx, c, t)
	return m, err
}

// lacks are words for what a team has not done yet.
func lacks(tx *store.Tx, c *contest.Contest, t *team) (out []string, err error) {
	hosts, proven, notices := 0, 0, 0
	if err := tx.Row("SELECT COUNT(*), COALESCE(SUM(CASE WHEN proven > 0 THEN 1 ELSE 0 END), 0) FROM hosts WHERE team = ?", []any{t.id}, &hosts, &proven); err != nil {
		return nil, err
	}
	if err := tx.Row("SELECT COUNT(*) FROM subscriptions s JOIN members m ON m.account = s.account WHERE m.team = ?", []any{t.id}, &notices); err != nil {
		return nil, err
	}
	if !declared(c, t.division, t.people) {
		out = append(out, "declares")
	}
	switch {
	case hosts == 0:
		out = append(out, "host")
	case proven < hosts:
		out = append(out, "proof")
	}
	if notices == 0 {
		out = append(out, "notices")
	}
	return out, nil
}

// declared reports whether every member declares what a division demands.
func declared(c *contest.Contest, division string, people []api.Person) bool {
	word, _ := c.Division(division)
	return word == "" || !slices.ContainsFunc(people, func(p api.Person) bool { return !slices.Contains(p.Declares, word) })
}
