package people

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// leading runs an act of the leader on its team.
func (s *Service) leading(ctx context.Context, name, contestID string, who api.Who, do func(*store.Tx, *contest.Contest, *team) error) error {
	return s.act(ctx, name, contestID, func(tx *store.Tx, c *contest.Contest) error {
		t, err := readTeam(tx, c.ID, who.At(c.ID).Team)
		if err != nil {
			return err
		}
		if !t.leads(who.Account) {
			return api.ErrForbidden
		}
		if !t.open() {
			return refused("team-gone", "the team does not take part")
		}
		return do(tx, c, t)
	})
}

// Invite implements api.People.
func (s *Service) Invite(ctx context.Context, who api.Who, contestID string) (token string, err error) {
	token = lead.RandomID() + lead.RandomID()
	return token, s.leading(ctx, "invite", contestID, who, func(tx *store.Tx, c *contest.Contest, t *team) error {
		if !c.Registration.Opened(c.Registration.JoinClose, s.core.Now()) {
			return errClosed
		}
		if len(t.people) >= c.Registration.Members {
			return errFull
		}
		if _, err := tx.Exec("DELETE FROM invitations WHERE team = ?", t.id); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO invitations (team, digest, created) VALUES (?, ?, ?)", t.id, lead.Digest(token), s.core.Now())
		return err
	})
}

// invited is the team of a link and its contest.
func (s *Service) invited(tx *store.Tx, token string) (*team, *contest.Contest, error) {
	id, contestID := "", ""
	err := tx.Row("SELECT i.team, t.contest FROM invitations i JOIN teams t ON t.id = i.team WHERE i.digest = ?", []any{lead.Digest(token)}, &id, &contestID)
	if err != nil {
		return nil, nil, notFound(err)
	}
	c, err := s.core.ContestIn(tx, contestID)
	if err != nil {
		return nil, nil, err
	}
	t, err := readTeam(tx, contestID, id)
	return t, c, err
}

// Invitation implements api.People.
func (s *Service) Invitation(ctx context.Context, _ api.Who, token string) (out *api.Invitation, err error) {
	err = s.core.Read(ctx, func(tx *store.Tx) error {
		t, c, err := s.invited(tx, token)
		if err == nil {
			out = &api.Invitation{Contest: c.ID, Title: c.Name, Team: t.entrant(), Most: c.Registration.Members}
		}
		return err
	})
	return out, err
}

// Accept implements api.People.
func (s *Service) Accept(ctx context.Context, who api.Who, token string, words []string) (out *api.Mine, err error) {
	if who.Account == "" || who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	invitation, err := s.Invitation(ctx, who, token)
	if err != nil {
		return nil, err
	}
	err = s.act(ctx, "join", invitation.Contest, func(tx *store.Tx, c *contest.Contest) error {
		t, _, err := s.invited(tx, token) // it may be void by now
		if err != nil {
			return err
		}
		words := declares(words)
		switch {
		case !c.Registration.Opened(c.Registration.JoinClose, s.core.Now()):
			return errClosed
		case !t.open():
			return refused("team-gone", "the team does not take part")
		case len(t.people) >= c.Registration.Members:
			return errFull
		}
		if err := free(tx, c.ID, who.Account); err != nil {
			return err
		}
		if err := mayBe(c, t.division, []api.Person{{Declares: words}}); err != nil {
			return err
		}
		if err := s.core.AddMember(tx, c.ID, t.id, who.Account, false, strings.Join(words, " ")); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM seekers WHERE contest = ? AND account = ?", c.ID, who.Account); err != nil {
			return err
		}
		if len(t.people)+1 == c.Registration.Members { // a link is void when the team is full
			if _, err := tx.Exec("DELETE FROM invitations WHERE team = ?", t.id); err != nil {
				return err
			}
		}
		if err := s.told(tx, t, who.Account, "join", ""); err != nil {
			return err
		}
		out, err = s.mine(tx, c, api.Who{Account: who.Account, Team: t.id})
		return err
	})
	return out, err
}

// told writes an act on a team into the audit log and into the history of its rounds.
func (s *Service) told(tx *store.Tx, t *team, who, what, detail string) error {
	if err := s.core.Audit(tx, who, what, strings.TrimSpace(t.id+" "+detail)); err != nil {
		return err
	}
	return s.core.TeamChanged(tx, t.contest, t.id, nil)
}

// Edit implements api.People.
func (s *Service) Edit(ctx context.Context, who api.Who, contestID string, e api.Edit) (out *api.Mine, err error) {
	err = s.leading(ctx, "team-edit", contestID, who, func(tx *store.Tx, c *contest.Contest, t *team) error {
		if !c.Registration.Opened(c.Registration.EditClose, s.core.Now()) {
			return errClosed
		}
		if e.Name != "" && e.Name != t.name {
			if err := rename(tx, t, e.Name); err != nil {
				return err
			}
		}
		if e.Division != "" && e.Division != t.division {
			if err := mayBe(c, e.Division, t.people); err != nil {
				return err
			}
			if _, err := tx.Exec("UPDATE teams SET division = ? WHERE id = ?", e.Division, t.id); err != nil {
				return err
			}
		}
		if e.Answers != nil {
			all := maps.Clone(t.answers)
			if all == nil {
				all = map[string]string{}
			}
			maps.Copy(all, e.Answers)
			body, err := answersOf(&c.Registration, all, true)
			if err != nil {
				return err
			}
			if _, err := tx.Exec("UPDATE signups SET answers = ? WHERE team = ?", body, t.id); err != nil {
				return err
			}
		}
		change, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if err := s.told(tx, t, who.Account, "edit", string(change)); err != nil {
			return err
		}
		out, err = s.mine(tx, c, api.Who{Account: who.Account, Team: t.id})
		return err
	})
	return out, err
}

// rename gives a team another name.
func rename(tx *store.Tx, t *team, text string) error {
	name, err := lead.TeamName(text)
	if err != nil {
		return err
	}
	n := 0
	if err := tx.Row("SELECT COUNT(*) FROM teams WHERE contest = ? AND folded = ? AND id <> ?", []any{t.contest, lead.Folded(name), t.id}, &n); err != nil {
		return err
	}
	if n > 0 {
		return refused("name", "another team has this name")
	}
	_, err = tx.Exec("UPDATE teams SET name = ?, folded = ? WHERE id = ?", name, lead.Folded(name), t.id)
	return err
}

// Leave implements api.People. The last member withdraws the team.
func (s *Service) Leave(ctx context.Context, who api.Who, contestID string) error {
	return s.act(ctx, "leave", contestID, func(tx *store.Tx, c *contest.Contest) error {
		t, err := readTeam(tx, c.ID, who.At(c.ID).Team)
		if err != nil {
			return err
		}
		if !c.Registration.Opened(c.Registration.EditClose, s.core.Now()) {
			return errClosed
		}
		if t.leads(who.Account) && len(t.people) > 1 {
			return refused("leader", "the leader hands the team over first")
		}
		return s.takeOut(tx, c, t, who.Account, who.Account)
	})
}

// takeOut ends a membership; a team without members withdraws.
func (s *Service) takeOut(tx *store.Tx, c *contest.Contest, t *team, account, by string) error {
	if _, err := tx.Exec("DELETE FROM members WHERE contest = ? AND account = ? AND team = ?", c.ID, account, t.id); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE accounts SET team = '' WHERE id = ? AND team = ?", account, t.id); err != nil {
		return err
	}
	if len(t.people) > 1 || !t.open() {
		return s.told(tx, t, by, "leave", account)
	}
	if err := s.become(tx, t, by, withdrawn, ""); err != nil {
		return err
	}
	return s.advance(tx, c, by)
}

// Remove implements api.People.
func (s *Service) Remove(ctx context.Context, who api.Who, contestID, account string) error {
	return s.leading(ctx, "remove", contestID, who, func(tx *store.Tx, c *contest.Contest, t *team) error {
		switch {
		case !c.Registration.Opened(c.Registration.EditClose, s.core.Now()):
			return errClosed
		case !t.has(account):
			return api.ErrNotFound
		case account == who.Account:
			return refused("leader", "the leader leaves, or hands the team over")
		}
		return s.takeOut(tx, c, t, account, who.Account)
	})
}

// HandOver implements api.People.
func (s *Service) HandOver(ctx context.Context, who api.Who, contestID, account string) error {
	return s.leading(ctx, "hand-over", contestID, who, func(tx *store.Tx, c *contest.Contest, t *team) error {
		if !t.has(account) || account == who.Account {
			return api.ErrNotFound
		}
		for id, leads := range map[string]bool{who.Account: false, account: true} {
			if _, err := tx.Exec("UPDATE members SET leads = ? WHERE contest = ? AND account = ?", leads, c.ID, id); err != nil {
				return err
			}
		}
		return s.told(tx, t, who.Account, "hand over", account)
	})
}

// Withdraw implements api.People.
func (s *Service) Withdraw(ctx context.Context, who api.Who, contestID, reason string) error {
	return s.leading(ctx, "withdraw", contestID, who, func(tx *store.Tx, c *contest.Contest, t *team) error {
		if err := s.become(tx, t, who.Account, withdrawn, cleaned(reason, maxReason)); err != nil {
			return err
		}
		return s.advance(tx, c, who.Account)
	})
}
