package people

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// maxLevel is the highest level of a person.
const maxLevel = 5

// draw makes teams of at most size people: as few as possible, whose sizes differ by one at
// most. People of one level come in the order of the seed; they are dealt forth and back from
// the highest level on, so that the sums of levels are near each other. The same people and
// seed give the same teams.
func draw(people []api.Seeker, size int, seed uint64) [][]api.Seeker {
	if len(people) == 0 {
		return nil
	}
	order := slices.Clone(people)
	slices.SortFunc(order, func(a, b api.Seeker) int { return cmp.Compare(a.Account, b.Account) })
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b api.Seeker) int { return cmp.Compare(b.Level, a.Level) })
	teams := make([][]api.Seeker, (len(order)+size-1)/size)
	for i, p := range order {
		at := i % (2 * len(teams))
		if at >= len(teams) {
			at = 2*len(teams) - 1 - at
		}
		teams[at] = append(teams[at], p)
	}
	return teams
}

// seekers are those who look for a team. Accounts are for staff.
func seekers(tx *store.Tx, contestID string, who api.Who) (out []api.Seeker, err error) {
	err = tx.Each("SELECT s.account, a.name, s.level, s.body FROM seekers s JOIN accounts a ON a.id = s.account WHERE s.contest = ? ORDER BY s.created, s.account", []any{contestID}, func(scan func(...any) error) error {
		p := api.Seeker{}
		err := scan(&p.Account, &p.Name, &p.Level, &p.Text)
		if p.Own = p.Account == who.Account; !p.Own && !who.Role.Staff() {
			p.Account = ""
		}
		out = append(out, p)
		return err
	})
	return out, err
}

// Seek implements api.People.
func (s *Service) Seek(ctx context.Context, who api.Who, contestID string, level int, text string) error {
	if who.Account == "" || who.Role.Staff() {
		return api.ErrForbidden
	}
	if level < 0 || level > maxLevel {
		return refused("level", "a level is 1 to %d", maxLevel)
	}
	return s.act(ctx, "seek", contestID, func(tx *store.Tx, c *contest.Contest) error {
		if _, err := tx.Exec("DELETE FROM seekers WHERE contest = ? AND account = ?", c.ID, who.Account); err != nil || level == 0 {
			return err
		}
		if !c.Registration.Opened(c.Registration.JoinClose, s.core.Now()) {
			return errClosed
		}
		if err := free(tx, c.ID, who.Account); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO seekers (contest, account, level, body, created) VALUES (?, ?, ?, ?, ?)", c.ID, who.Account, level, cleaned(text, 600), s.core.Now())
		return err
	})
}

// Draw implements api.People. The first of a team, who has the highest level, leads it.
func (s *Service) Draw(ctx context.Context, who api.Who, contestID string, seed uint64, apply bool) (out []api.Drawn, err error) {
	if who.Role != api.Organiser {
		return nil, api.ErrForbidden
	}
	err = s.act(ctx, "draw", contestID, func(tx *store.Tx, c *contest.Contest) error {
		all, err := seekers(tx, c.ID, who)
		if err != nil {
			return err
		}
		out = nil
		for i, people := range draw(all, c.Registration.Members, seed) {
			d := api.Drawn{Name: fmt.Sprintf("Team %d-%02d", seed, i+1), Members: people}
			if apply {
				if err := s.drawn(tx, c, &d); err != nil {
					return err
				}
			}
			out = append(out, d)
		}
		if !apply {
			return nil
		}
		return s.core.Audit(tx, who.Account, "draw", fmt.Sprintf("%s: seed %d: %d people, %d teams", c.ID, seed, len(all), len(out)))
	})
	return out, err
}

// drawn writes a team of a draw.
func (s *Service) drawn(tx *store.Tx, c *contest.Contest, d *api.Drawn) (err error) {
	if d.Team, err = s.core.CreateTeam(tx, lead.NewTeam{Contest: c.ID, Name: d.Name}, ""); err != nil {
		return err
	}
	for i, p := range d.Members {
		if err := s.core.AddMember(tx, c.ID, d.Team, p.Account, i == 0, ""); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM seekers WHERE contest = ? AND account = ?", c.ID, p.Account); err != nil {
			return err
		}
	}
	return nil
}
