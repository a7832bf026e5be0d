package target

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Team is the people who work on a site.
type Team struct {
	Remote string     `toml:"remote" help:"git remote to which the ledger of the runs is pushed, after each run; keep it private until the contest is over" example:"git@github.com:team/ledger.git"`
	Commit TeamCommit `toml:"commit" help:"app: each run also commits what git tracks in the repository of the app's source; default: no file of yours is committed" words:"app"`
	Notify []Ref      `toml:"notify" help:"where the address of each receiver of notices is (env:NAME or file:/PATH:NAME): Discord, Slack, or any server that takes JSON; the address is a secret" example:"env:DISCORD_WEBHOOK"`
}

// TeamCommit is what else a run commits.
type TeamCommit string

// CommitApp also commits the app's source in its own repository.
const CommitApp TeamCommit = "app"

// Rules are the clock and the rules of a contest.
type Rules struct {
	Begin  Time     `toml:"begin" help:"when it begins, RFC 3339, or in the time zone of this machine as in 2026-11-28 10:00" example:"2026-11-28 10:00"`
	End    Time     `toml:"end" help:"when it ends: from then on no command changes a host, since that disqualifies" example:"2026-11-28 18:00"`
	Final  Final    `toml:"final" help:"which run counts: the last one, or the best; default: last" words:"last,best"`
	Floor  float64  `toml:"floor" help:"share of the registered score that the last test must reach; default: 0.75"`
	Forbid []string `toml:"forbid" help:"hosts that are never connected to, by name or address, such as the portal and the benchmarker's" example:"portal.example.com"`
}

// Final is which run of a contest counts.
type Final string

// The runs that may count.
const (
	FinalLast Final = "last"
	FinalBest Final = "best"
)

// defaultFloor is the default of Rules.Floor.
const defaultFloor = 0.75

// Least is the share of the registered score that the last test must reach.
func (r *Rules) Least() float64 {
	if r.Floor > 0 {
		return r.Floor
	}
	return defaultFloor
}

// Forbids reports whether a host may not be connected to. host is a name or an address,
// with or without a port.
func (r *Rules) Forbids(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if host == "" {
		return false
	}
	ip := net.ParseIP(host)
	return slices.ContainsFunc(r.Forbid, func(f string) bool {
		if _, network, err := net.ParseCIDR(f); err == nil {
			return ip != nil && network.Contains(ip)
		}
		if one := net.ParseIP(f); one != nil && ip != nil {
			return one.Equal(ip)
		}
		return strings.EqualFold(strings.TrimSuffix(f, "."), host)
	})
}

// ForbidsRemote is the host of a git remote if it may not be connected to; "" otherwise.
func (r *Rules) ForbidsRemote(remote string) string {
	if host := remoteHost(remote); r.Forbids(host) {
		return host
	}
	return ""
}

// A Time is a moment of a contest.
type Time time.Time

// localForm is a time without a zone, which is that of this machine.
const localForm = "2006-01-02 15:04"

// UnmarshalText reads RFC 3339, or a date and a time of this machine's zone.
func (t *Time) UnmarshalText(b []byte) error {
	for _, form := range []string{localForm, localForm + ":05"} {
		if v, err := time.ParseInLocation(form, string(b), time.Local); err == nil {
			*t = Time(v)
			return nil
		}
	}
	v, err := time.Parse(time.RFC3339, string(b))
	if err != nil || v.IsZero() {
		return errors.New("not a time, as in 2026-11-28 10:00 or 2026-11-28T10:00:00+09:00")
	}
	*t = Time(v)
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (t Time) MarshalText() ([]byte, error) {
	b, err := time.Time(t).MarshalText()
	if err != nil {
		return nil, fmt.Errorf("writing a time: %w", err)
	}
	return b, nil
}

// contest checks the clock and the rules.
func (c *checker) contest(f *File) {
	r := &f.Contest
	if begin, end := time.Time(r.Begin), time.Time(r.End); !begin.IsZero() && !end.IsZero() && !end.After(begin) {
		c.at("contest.end", "", "the contest ends before it begins")
	}
	if math.IsNaN(r.Floor) || r.Floor < 0 || r.Floor > 1 {
		c.at("contest.floor", "write floor = 0.75", "floor is %g; want a share between 0 and 1", r.Floor)
	}
	forbidden := func(path, host string) {
		if r.Forbids(host) {
			c.at(path, "take it out of forbid below [contest], or out of here", "%s is a host that this contest forbids to connect to", host)
		}
	}
	if u, err := url.Parse(f.URL); err == nil {
		forbidden("url", u.Host)
	}
	for i := range f.Hosts {
		path := fmt.Sprintf("host.%d", i+1)
		forbidden(path, f.Hosts[i].Name)
		forbidden(path+".address", hostOf(f.Hosts[i].Address))
	}
	for i := range f.Services {
		s, path := &f.Services[i], fmt.Sprintf("service.%d", i+1)
		forbidden(path+".listen", s.Listen)
		if h, err := ParseHealth(s.Health); err == nil {
			forbidden(path+".health", h.TCP)
			forbidden(path+".health", hostOf(h.URL))
		}
	}
	forbidden("team.remote", remoteHost(f.Team.Remote))
	for i, ref := range f.Team.Notify {
		if path, _ := ref.File(); ref.Env() == "" && path == "" {
			c.at("team.notify", `write notify = ["env:DISCORD_WEBHOOK"]`, "receiver %d of notices is neither env:NAME nor file:/PATH:NAME", i+1)
		}
	}
}

// hostOf is the host of an address that may be a URL, as in ssh://isucon@web:22.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// remoteHost is the host of a git remote: of a URL, or of the form user@host:path; "" for a
// folder of this machine.
func remoteHost(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		return u.Host
	}
	host, _, found := strings.Cut(remote, ":")
	if !found || strings.Contains(host, "/") {
		return ""
	}
	return host[strings.LastIndex(host, "@")+1:]
}
