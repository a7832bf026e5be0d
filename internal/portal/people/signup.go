package people

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

const (
	maxAnswer = 1000 // bytes of an answer
	maxReason = 400  // bytes of a reason
)

// SignUp implements api.People.
func (s *Service) SignUp(ctx context.Context, who api.Who, contestID string, in api.SignUp) (out *api.Mine, err error) {
	if who.Account == "" || who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	err = s.act(ctx, "signup", contestID, func(tx *store.Tx, c *contest.Contest) error {
		r := &c.Registration
		if !r.Opened(r.Close, s.core.Now()) {
			return errClosed
		}
		if err := free(tx, c.ID, who.Account); err != nil {
			return err
		}
		answers, err := answersOf(r, in.Answers, in.Terms)
		if err != nil {
			return err
		}
		words := declares(in.Declares)
		if err := mayBe(c, in.Division, []api.Person{{Declares: words}}); err != nil {
			return err
		}
		coded, err := s.admitted(tx, c, who.Account, in.Code)
		if err != nil {
			return err
		}
		state, err := stateOf(tx, c, coded)
		if err != nil {
			return err
		}
		id, err := s.core.CreateTeam(tx, lead.NewTeam{Contest: c.ID, Name: in.Name, Division: in.Division}, state)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO signups (team, place, code, answers, reason) SELECT ?, COALESCE(MAX(s.place), 0) + 1, ?, ?, '' FROM signups s JOIN teams t ON t.id = s.team WHERE t.contest = ?", id, coded, answers, c.ID); err != nil {
			return err
		}
		if err := s.core.AddMember(tx, c.ID, id, who.Account, true, strings.Join(words, " ")); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM seekers WHERE contest = ? AND account = ?", c.ID, who.Account); err != nil {
			return err
		}
		if err := s.core.Audit(tx, who.Account, "sign up", id+" "+in.Name); err != nil {
			return err
		}
		out, err = s.mine(tx, c, api.Who{Account: who.Account, Team: id})
		return err
	})
	return out, err
}

// free refuses an account that has a team in the contest.
func free(tx *store.Tx, contestID, account string) error {
	n := 0
	err := tx.Row("SELECT COUNT(*) FROM members WHERE contest = ? AND account = ?", []any{contestID, account}, &n)
	if err == nil && n > 0 {
		err = errMember
	}
	return err
}

// stateOf is the state of a new team.
func stateOf(tx *store.Tx, c *contest.Contest, code string) (string, error) {
	p, err := placesOf(tx, c)
	switch {
	case err != nil:
		return "", err
	case !p.room(code != "") && c.Registration.Waiting:
		return waits, nil
	case !p.room(code != ""):
		return "", refused("full", "all %d places are taken", p.most)
	case c.Registration.Approval:
		return asked, nil
	}
	return "", nil
}

// admitted holds a sign-up to how teams are admitted, and uses up a place of a code. It returns
// the code's digest.
func (s *Service) admitted(tx *store.Tx, c *contest.Contest, account, code string) (digest string, err error) {
	if code = strings.TrimSpace(code); code != "" {
		digest = lead.Digest(code)
		n, err := tx.Exec("UPDATE codes SET used = used + 1 WHERE digest = ? AND contest = ? AND used < places", digest, c.ID)
		if err == nil && n == 0 {
			err = refused("code", "the code is not valid, or its places are taken")
		}
		return digest, err
	}
	switch c.Registration.Entry {
	case contest.AdmitCode:
		return "", refused("code", "a team needs a code of the organiser")
	case contest.AdmitList:
		n := 0
		mail := ""
		if err := tx.Row("SELECT COALESCE(MAX(mail), '') FROM contacts WHERE account = ?", []any{account}, &mail); err != nil {
			return "", err
		}
		if err := tx.Row("SELECT COUNT(*) FROM entrants WHERE contest = ? AND folded = ?", []any{c.ID, lead.Folded(mail)}, &n); err != nil {
			return "", err
		}
		if mail == "" || n == 0 {
			return "", refused("list", "the account's mail address is not on the organiser's list")
		}
	}
	return "", nil
}

// answersOf checks the answers to the contest's questions and the acceptance of its terms.
func answersOf(r *contest.Registration, given map[string]string, terms bool) (string, error) {
	if len(r.Terms) > 0 && !terms {
		return "", refused("terms", "the terms have to be accepted")
	}
	out := map[string]string{}
	for _, q := range r.Questions {
		text := cleaned(given[q.ID], maxAnswer)
		if text == "" && q.Required {
			return "", refused("answers", "an answer is missing: %s", q.ID)
		}
		if text != "" {
			out[q.ID] = text
		}
	}
	body, err := json.Marshal(out)
	return string(body), err
}

// declares are words that a member declares, at most ten.
func declares(words []string) []string {
	var out []string
	for _, w := range words {
		if w = cleaned(w, 16); w != "" && !strings.ContainsRune(w, ' ') && !slices.Contains(out, w) && len(out) < 10 {
			out = append(out, w)
		}
	}
	return out
}

// mayBe holds people to the rule of a division; "" is the general one.
func mayBe(c *contest.Contest, division string, people []api.Person) error {
	if division == "" {
		return nil
	}
	word, known := c.Division(division)
	if !known {
		return refused("division", "there is no such division")
	}
	if !declared(c, division, people) {
		return refused("division", "every member of this division declares: %s", word)
	}
	return nil
}
