package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/judging"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A HintUse is a hint that a team has opened.
type HintUse struct {
	Team, Hint, By string
	At             time.Time
}

// HintUses are the hints of a round that teams ("" for all) have opened.
func (c *Core) HintUses(ctx context.Context, round, team string) (out []HintUse, err error) {
	return out, c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT u.team, u.hint, u.at, a.name FROM hint_uses u LEFT JOIN accounts a ON a.id = u.account WHERE u.round = ? AND (u.team = ? OR ? = '') ORDER BY u.at, u.team, u.hint",
			[]any{round, team, team}, func(scan func(...any) error) error {
				u, by := HintUse{}, (*string)(nil)
				err := scan(&u.Team, &u.Hint, &u.At, &by)
				if by != nil {
					u.By = *by
				}
				out = append(out, u)
				return err
			})
	})
}

// OpenHint notes that a team opened a hint. A second time changes nothing.
func (c *Core) OpenHint(ctx context.Context, who api.Who, round, hint string) error {
	return c.store.Write(ctx, "hint", func(tx *store.Tx) error {
		n := 0
		if err := tx.Row("SELECT COUNT(*) FROM hint_uses WHERE round = ? AND team = ? AND hint = ?", []any{round, who.Team, hint}, &n); err != nil || n > 0 {
			return err
		}
		if _, err := tx.Exec("INSERT INTO hint_uses (round, team, hint, at, account) VALUES (?, ?, ?, ?, ?)", round, who.Team, hint, c.Now(), who.Account); err != nil {
			return err
		}
		return c.audit(tx, who.Account, "hint", round+" "+who.Team+" "+hint)
	})
}

// What a host event is.
const (
	hostBooted = "boot" // another boot id
	hostKeys   = "keys" // other SSH host keys than the pinned ones
)

// IsHostEvent reports whether a word is a host event.
func IsHostEvent(what string) bool { return what == hostBooted || what == hostKeys }

// mostHostEvents is how many events are kept of a host: its agent is not trusted.
const mostHostEvents = 200

// noteHost keeps that a machine was rebooted, or has other keys.
func (c *Core) noteHost(tx *store.Tx, host, what, detail string) error {
	n, team := 0, ""
	if err := tx.Row("SELECT COUNT(*) FROM host_events WHERE host = ?", []any{host}, &n); err != nil || n >= mostHostEvents {
		return err
	}
	if err := tx.Row("SELECT team FROM host_state WHERE host = ?", []any{host}, &team); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO host_events (id, host, team, at, what, detail) VALUES (?, ?, ?, ?, ?, ?)", c.newID(), host, team, c.Now(), what, cleaned(detail, 180))
	return err
}

// Boots are when machines of the teams of a contest were rebooted, by team.
func (c *Core) Boots(ctx context.Context, contestID string) (map[string][]time.Time, error) {
	out := map[string][]time.Time{}
	return out, c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT e.team, e.at FROM host_events e JOIN teams t ON t.id = e.team WHERE t.contest = ? AND e.what = ? ORDER BY e.at", []any{contestID, hostBooted}, func(scan func(...any) error) error {
			team, at := "", time.Time{}
			err := scan(&team, &at)
			out[team] = append(out[team], at)
			return err
		})
	})
}

// OpenJobs are the teams of a round that have an open job.
func (c *Core) OpenJobs(ctx context.Context, round string) (map[string]bool, error) {
	out := map[string]bool{}
	return out, c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT team FROM open_jobs WHERE round = ?", []any{round}, func(scan func(...any) error) error {
			team := ""
			err := scan(&team)
			out[team] = true
			return err
		})
	})
}

// Flags are what staff should look at in a round.
func (c *Core) Flags(ctx context.Context, round string) (out []judging.Flag, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		e := judging.Evidence{Local: r.Contest.Local, Ends: map[string]time.Time{}, HandsOff: map[string]time.Time{}}
		if err := machinesOf(tx, r.Contest, c.Now(), &e); err != nil {
			return err
		}
		if err := eventsOf(tx, r, &e); err != nil {
			return err
		}
		if err := answersOf(tx, r, &e); err != nil {
			return err
		}
		out = judging.Flags(e)
		return nil
	})
	return out, err
}

// machinesOf reads the machines and the mail addresses of the teams of a contest.
func machinesOf(tx *store.Tx, c *contest.Contest, now time.Time, e *judging.Evidence) error {
	hosts, err := hostRows(tx, c.ID, "", now)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		m := judging.Machine{Team: h.Team, Name: h.Name, Boot: h.Boot, Keys: h.Keys}
		if u, err := url.Parse(h.Address); err == nil {
			m.Address = u.Hostname()
		}
		e.Machines = append(e.Machines, m)
	}
	return tx.Each("SELECT m.team, c.mail FROM members m JOIN contacts c ON c.account = m.account WHERE m.contest = ? AND c.mail <> '' ORDER BY m.team, m.account", []any{c.ID}, func(scan func(...any) error) error {
		p := judging.Person{}
		err := scan(&p.Team, &p.Mail)
		e.People = append(e.People, p)
		return err
	})
}

// eventsOf reads what happened to machines, and when the time of each team ended. Events of a machine
// that its team has removed stay.
func eventsOf(tx *store.Tx, r *Round, e *judging.Evidence) error {
	err := tx.Each("SELECT x.team, COALESCE(h.name, x.host), x.at, x.what FROM host_events x JOIN teams t ON t.id = x.team LEFT JOIN hosts h ON h.id = x.host WHERE t.contest = ? ORDER BY x.at", []any{r.Contest.ID}, func(scan func(...any) error) error {
		x, what := judging.MachineEvent{}, ""
		err := scan(&x.Team, &x.Name, &x.At, &what)
		x.Keys = what == hostKeys
		if e.Events = append(e.Events, x); e.Ends[x.Team].IsZero() {
			e.Ends[x.Team] = r.Clock.EndOf(x.Team)
		}
		return err
	})
	if err != nil {
		return err
	}
	return tx.Each("SELECT team, MIN(at) FROM final_steps WHERE round = ? GROUP BY team", []any{r.ID}, func(scan func(...any) error) error {
		team, at := "", time.Time{}
		err := scan(&team, &at)
		e.HandsOff[team] = at
		return err
	})
}

// answersOf reads in which runs a site answered the benchmarker otherwise than a browser.
func answersOf(tx *store.Tx, r *Round, e *judging.Evidence) error {
	if len(r.Problem().Shadow.Pages) == 0 {
		return nil
	}
	return tx.Each("SELECT team, at, body FROM results WHERE round = ? AND body LIKE '%\"differs\":[%' ORDER BY at, job", []any{r.ID}, func(scan func(...any) error) error {
		x, body, report := judging.Answers{}, "", api.Report{}
		if err := scan(&x.Team, &x.At, &body); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &report); err != nil {
			return fmt.Errorf("reading a result: %w", err)
		}
		if x.Pages = report.Differs; len(x.Pages) > 0 {
			e.Answers = append(e.Answers, x)
		}
		return nil
	})
}
