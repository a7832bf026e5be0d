package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/store"
)

const (
	// hostsAgain is how long a host is left alone after a check.
	hostsAgain = 15 * time.Second
	// mostDue is how many hosts one worker checks at once.
	mostDue = 20
	// agentSilent is after how long an agent without a beat is reported.
	agentSilent = 60 * time.Second
	mostKeys    = 8
)

// RegisterHost registers a machine of a team, which is not proven yet. The name of a host that
// exists makes another token for it, and with another address it has to be proven again.
func (c *Core) RegisterHost(ctx context.Context, who, round string, n api.NewHost) (*api.MadeHost, error) {
	name := cleaned(strings.TrimSpace(n.Name), 60)
	if name == "" {
		return nil, refused("name", "a host has a name")
	}
	token := RandomID() + RandomID()
	out := &api.MadeHost{Token: token, Path: api.HostPath}
	return out, c.store.Write(ctx, "host", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		if err := allowed(r.Contest, n.Address); err != nil {
			return err
		}
		if err := c.hostFree(tx, r, n); err != nil {
			return err
		}
		id, was := "", ""
		switch err := tx.Row("SELECT id, url FROM hosts WHERE team = ? AND name = ?", []any{n.Team, name}, &id, &was); {
		case errors.Is(err, store.ErrNone):
			count := 0
			if err := tx.Row("SELECT COUNT(*) FROM hosts WHERE team = ?", []any{n.Team}, &count); err != nil {
				return err
			}
			if count >= r.Round.Rules.Hosts {
				return refused("hosts", "a team has at most %d hosts", r.Round.Rules.Hosts)
			}
			id = c.newID()
			_, err = tx.Exec("INSERT INTO hosts (id, team, name, url, proven) VALUES (?, ?, ?, ?, 0)", id, n.Team, name, n.Address)
			if err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if _, err := tx.Exec("UPDATE hosts SET url = ?, proven = 0 WHERE id = ?", n.Address, id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM host_state WHERE host = ?", id); err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO host_state (host, team, digest, agent, boot, ssh, facts, joined, seen, checked, reached, clock_off, problem) VALUES (?, ?, ?, '', '', '', '', 0, 0, 0, 0, 0, '')",
			id, n.Team, Digest(token))
		out.Host, out.Text = id, pathText(Digest(token), id)
		return errors.Join(err, c.audit(tx, who, "host", id+" "+n.Address))
	})
}

// pathText is the text that proves a host at the well-known path of its site.
func pathText(digest, host string) string { return api.HostAnswer(digest, "path/"+host) }

// hostFree refuses an address that another team of the contest has.
func (c *Core) hostFree(tx *store.Tx, r *Round, n api.NewHost) error {
	team := 0
	if err := tx.Row("SELECT COUNT(*) FROM teams WHERE id = ? AND contest = ? AND gone = ''", []any{n.Team, r.Contest.ID}, &team); err != nil {
		return err
	}
	if team == 0 {
		return api.ErrNotFound
	}
	taken := false
	err := tx.Each("SELECT h.url FROM hosts h JOIN teams t ON t.id = h.team WHERE t.contest = ? AND h.team <> ?", []any{r.Contest.ID, n.Team}, func(scan func(...any) error) error {
		other := ""
		err := scan(&other)
		taken = taken || (sameMachine(other, n.Address) && (!r.Contest.Local || other == n.Address))
		return err
	})
	if err == nil && taken {
		err = refused("taken", "another team has registered this address")
	}
	return err
}

func sameMachine(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && x.Hostname() == y.Hostname()
}

// DropHost removes a host of a team. Jobs that wait for it are refused when they start.
func (c *Core) DropHost(ctx context.Context, who, team, host string) error {
	return c.store.Write(ctx, "host", func(tx *store.Tx) error {
		n, err := tx.Exec("DELETE FROM hosts WHERE id = ? AND (team = ? OR ? = '')", host, team, team)
		if err == nil && n == 0 {
			err = api.ErrNotFound
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM host_state WHERE host = ?", host); err != nil {
			return err
		}
		return c.audit(tx, who, "host removed", host)
	})
}

// HostBeat takes a beat of a host's agent. It comes from the host's address, but in a local
// contest. The first beat pins the SSH host keys.
func (c *Core) HostBeat(ctx context.Context, b api.HostBeat, from netip.Addr) (*api.HostBeatAnswer, error) {
	out := &api.HostBeatAnswer{Now: c.Now()}
	facts, err := hostFacts(&b)
	if err != nil {
		return nil, err
	}
	return out, c.store.Write(ctx, "host-beat", func(tx *store.Tx) error {
		address, contestID, keys, boot, joined := "", "", "", "", time.Time{}
		err := tx.Row("SELECT s.host, h.name, h.url, h.proven, t.contest, s.ssh, s.boot, s.joined, s.problem FROM host_state s JOIN hosts h ON h.id = s.host JOIN teams t ON t.id = h.team WHERE s.digest = ?",
			[]any{Digest(b.Token)}, &out.Host, &out.Name, &address, &out.Proven, &contestID, &keys, &boot, &joined, &out.Problem)
		if err != nil {
			return notFound(err)
		}
		parsed, err := c.contest(tx, contestID)
		if err != nil {
			return err
		}
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		if !parsed.Local && u.Hostname() != from.String() {
			return refused("address", "this comes from %s, the host is registered with %s", from, u.Hostname())
		}
		sent := strings.Join(b.Keys, "\n")
		switch {
		case joined.IsZero():
			joined, keys = c.Now(), sent
		case keys != sent:
			was := out.Problem
			if out.Problem = keysChanged; was != keysChanged {
				if err := c.noteHost(tx, out.Host, hostKeys, ""); err != nil {
					return err
				}
			}
		}
		if err := c.noteBoot(tx, out.Host, boot, cleaned(b.Boot, 64)); err != nil {
			return err
		}
		agent := "http://" + net.JoinHostPort(u.Hostname(), strconv.Itoa(b.Port))
		_, err = tx.Exec("UPDATE host_state SET agent = ?, boot = ?, ssh = ?, facts = ?, joined = ?, seen = ?, problem = ? WHERE host = ?",
			agent, cleaned(b.Boot, 64), keys, facts, joined, c.Now(), cleaned(out.Problem, 380), out.Host)
		return err
	})
}

// keysChanged is the problem of a host with other SSH host keys than the pinned ones. It stays
// until the host is registered again.
const keysChanged = "its SSH host keys have changed: register the host again"

// noteBoot keeps that a machine was rebooted, where both boot ids are known and differ.
func (c *Core) noteBoot(tx *store.Tx, host, was, is string) error {
	if was == "" || is == "" || was == is {
		return nil
	}
	return c.noteHost(tx, host, hostBooted, is)
}

// hostFacts checks what a host sent, and is its facts as they are kept.
func hostFacts(b *api.HostBeat) (string, error) {
	if b.Port < 1 || b.Port > 65535 || len(b.Keys) > mostKeys || len(strings.Join(b.Keys, "")) > 16<<10 {
		return "", &api.BadRequestError{Text: "want a port and at most 8 host keys"}
	}
	for i := range b.Keys {
		b.Keys[i] = cleaned(b.Keys[i], 4<<10)
	}
	f := b.Facts
	f.Name, f.System, f.Kernel = cleaned(f.Name, 100), cleaned(f.System, 100), cleaned(f.Kernel, 100)
	text, err := json.Marshal(f)
	return string(text), err
}

// hostCheck is the question to a host; its nonce is used once.
func hostCheck(tx *store.Tx, host string, local bool) (*api.HostCheck, error) {
	h := &api.HostCheck{Host: host, Local: local}
	digest, proven := "", false
	if err := tx.Row("SELECT name, url, proven FROM hosts WHERE id = ?", []any{host}, &h.Name, &h.Target, &proven); err != nil {
		return nil, notFound(err)
	}
	switch err := tx.Row("SELECT digest, agent FROM host_state WHERE host = ?", []any{host}, &digest, &h.Agent); {
	case errors.Is(err, store.ErrNone):
		h.Way = api.ByStaff
		return h, nil
	case err != nil:
		return nil, err
	}
	if h.Agent != "" {
		h.Way, h.Nonce = api.ByAgent, RandomID()
		h.Want = api.HostAnswer(digest, h.Nonce)
		return h, nil
	}
	h.Way, h.Want = api.ByPath, pathText(digest, host)
	return h, nil
}

// DueHosts gives hosts to check to a worker; another one gets other hosts.
func (c *Core) DueHosts(ctx context.Context) (out []api.HostCheck, err error) {
	err = c.store.Write(ctx, "due-hosts", func(tx *store.Tx) error {
		out = nil
		local := map[string]bool{}
		var ids []string
		err := tx.Each("SELECT s.host, t.contest FROM host_state s JOIN teams t ON t.id = s.team WHERE s.checked < ? ORDER BY s.checked, s.host LIMIT "+strconv.Itoa(mostDue), []any{c.Now().Add(-c.span(hostsAgain))},
			func(scan func(...any) error) error {
				id, contestID := "", ""
				err := scan(&id, &contestID)
				ids = append(ids, id+" "+contestID)
				return err
			})
		if err != nil {
			return err
		}
		for _, both := range ids {
			id, contestID, _ := strings.Cut(both, " ")
			if _, known := local[contestID]; !known {
				parsed, err := c.contest(tx, contestID)
				if err != nil {
					return err
				}
				local[contestID] = parsed.Local
			}
			h, err := hostCheck(tx, id, local[contestID])
			if err != nil {
				return err
			}
			if _, err := tx.Exec("UPDATE host_state SET checked = ? WHERE host = ?", c.Now(), id); err != nil {
				return err
			}
			out = append(out, *h)
		}
		return nil
	})
	return out, err
}

// Checked notes what a worker's checks showed. A right answer from its address proves a host; a
// wrong one takes the proof away.
func (c *Core) Checked(ctx context.Context, results []api.HostResult) error {
	results = results[:min(len(results), 2*mostDue)]
	return c.store.Write(ctx, "checked", func(tx *store.Tx) error {
		now := c.Now()
		for _, r := range results {
			problem := cleaned(r.Problem, 380)
			keys, boot := "", ""
			switch err := tx.Row("SELECT problem, boot FROM host_state WHERE host = ?", []any{r.Host}, &keys, &boot); {
			case errors.Is(err, store.ErrNone):
				continue
			case err != nil:
				return err
			}
			if keys == keysChanged {
				problem = keys
			}
			if _, err := tx.Exec("UPDATE host_state SET problem = ? WHERE host = ?", problem, r.Host); err != nil {
				return err
			}
			if r.Proven {
				if err := c.noteBoot(tx, r.Host, boot, cleaned(r.Boot, 64)); err != nil {
					return err
				}
				if _, err := tx.Exec("UPDATE host_state SET reached = ?, clock_off = ?, boot = CASE WHEN ? = '' THEN boot ELSE ? END WHERE host = ?", now, r.Offset, cleaned(r.Boot, 64), cleaned(r.Boot, 64), r.Host); err != nil {
					return err
				}
				if _, err := tx.Exec("UPDATE hosts SET proven = ? WHERE id = ? AND proven = 0", now, r.Host); err != nil {
					return err
				}
			}
			if r.Stranger {
				if _, err := tx.Exec("UPDATE hosts SET proven = 0 WHERE id = ?", r.Host); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Hosts lists the hosts of a team, or of all teams of a contest ("").
func (c *Core) Hosts(ctx context.Context, round, team string) (out []api.Host, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		out, err = hostRows(tx, r.Contest.ID, team, c.Now())
		return err
	})
	return out, err
}

// hostRows reads the hosts of a contest.
func hostRows(tx *store.Tx, contestID, team string, now time.Time) (out []api.Host, err error) {
	err = tx.Each("SELECT h.id, h.team, h.name, h.url, h.proven FROM hosts h JOIN teams t ON t.id = h.team WHERE t.contest = ? AND (h.team = ? OR ? = '') ORDER BY t.created, h.team, h.id", []any{contestID, team, team},
		func(scan func(...any) error) error {
			h := api.Host{Way: api.ByStaff}
			err := scan(&h.ID, &h.Team, &h.Name, &h.Address, &h.Proven)
			out = append(out, h)
			return err
		})
	if err != nil {
		return nil, err
	}
	err = tx.Each("SELECT s.host, s.agent, s.boot, s.ssh, s.facts, s.seen, s.reached, s.clock_off, s.problem FROM host_state s JOIN teams t ON t.id = s.team WHERE t.contest = ? AND (s.team = ? OR ? = '')", []any{contestID, team, team},
		func(scan func(...any) error) error {
			h, id, agent, keys, facts, offset := api.Host{Way: api.ByPath}, "", "", "", "", int64(0)
			if err := scan(&id, &agent, &h.Boot, &keys, &facts, &h.Seen, &h.Reached, &offset, &h.Problem); err != nil {
				return err
			}
			i := slices.IndexFunc(out, func(o api.Host) bool { return o.ID == id })
			if i < 0 {
				return nil
			}
			h.ID, h.Team, h.Name, h.Address, h.Proven, h.Offset = id, out[i].Team, out[i].Name, out[i].Address, out[i].Proven, time.Duration(offset)
			if keys != "" {
				h.Keys = strings.Split(keys, "\n")
			}
			if agent != "" {
				h.Way, h.Facts = api.ByAgent, &api.HostFacts{}
				if err := json.Unmarshal([]byte(facts), h.Facts); err != nil {
					return fmt.Errorf("reading the facts of a host: %w", err)
				}
				if h.Problem == "" && now.Sub(h.Seen) > agentSilent {
					h.Problem = "its agent is silent"
				}
			}
			out[i] = h
			return nil
		})
	return out, err
}
