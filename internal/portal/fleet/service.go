package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

const (
	// scope is that of tokens of a site.
	scope = "fleet"
	// keptFor is how long parts are kept.
	keptFor = 24 * time.Hour
	// lateBy is how old a part may be when it comes: an agent sends what it spooled.
	lateBy = 23 * time.Hour
	// ahead is how far a host's clock may be ahead.
	ahead = time.Hour
	// maxPart and maxProfile bound a part, packed and unpacked, in bytes.
	maxPart    = 1 << 20
	maxProfile = 32 << 20
	// maxParts bounds one question: 200 hosts for an hour have 12,000.
	maxParts = 20_000
	// maxWeight bounds the memory of one question, as the weight of its parts in bytes.
	maxWeight = 1 << 30
	// rowWeight is what a row weighs beside its text: an empty one has a few bytes of that.
	rowWeight = 700
	// maxHosts bounds the hosts of a site.
	maxHosts = 2000
	// clockLimit is from when on a clock is reported.
	clockLimit = time.Second
	minute     = time.Minute
)

// kinds are the kinds of profiles, with how parts are merged.
var kinds = map[string]func(...*iikanji.Profile) (*iikanji.Profile, error){"access": accesslog.Merge, "slow": tally.Merge}

// sources are the sources of profiles by kind.
var sources = map[string]iikanji.Source{"access": iikanji.Access, "slow": iikanji.Slow}

// A Service keeps and merges parts.
type Service struct{ core *lead.Core }

// New returns a service on a portal's state.
func New(core *lead.Core) *Service { return &Service{core} }

var _ api.FleetCalls = (*Service)(nil)

// AddSite makes a token of a site: agents on its hosts send with it.
func AddSite(ctx context.Context, core *lead.Core, site string, valid time.Duration) (string, error) {
	if !contest.ValidID(site) {
		return "", &api.BadRequestError{Text: "a site has a name of up to 32 of a-z, 0-9 and -"}
	}
	return core.AddToken(ctx, scope, site, valid)
}

func refused(code, format string, args ...any) error {
	return &api.RefusedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// KeepPart implements api.FleetCalls.
func (s *Service) KeepPart(ctx context.Context, p api.FleetPart) error {
	now := s.core.Now()
	p.Host, p.Trouble = plain.Line(strings.TrimSpace(p.Host)), plain.CutBytes(plain.Line(p.Trouble), 380)
	switch {
	case sources[p.Kind] == iikanji.SourceUnknown:
		return &api.BadRequestError{Text: "want a part of the kind access or slow"}
	case p.Host == "" || len(p.Host) > 64 || p.File == "" || len(p.File) > 100 || p.From < 0 || p.To < p.From:
		return &api.BadRequestError{Text: "want a part with host, file and bytes"}
	case p.Minute.IsZero() || !p.Minute.Truncate(minute).Equal(p.Minute):
		return &api.BadRequestError{Text: "want a part of a whole minute"}
	case len(p.Profile) > maxPart:
		return refused("too-large", "a part has at most %d bytes", maxPart)
	case p.Minute.Before(now.Add(-lateBy)) || p.Minute.After(now.Add(ahead)):
		return refused("too-old", "the minute %s is not one that is kept", p.Minute.UTC().Format(time.RFC3339))
	}
	site, err := s.siteOf(ctx, p.Token, now) // before work is spent on the profile
	if err != nil {
		return err
	}
	if len(p.Profile) > 0 {
		if err := mergeable(p.Profile, p.Kind); err != nil {
			return &api.BadRequestError{Text: "the profile cannot be read: " + err.Error()}
		}
	}
	return s.core.Write(ctx, "fleet", func(tx *store.Tx) error {
		if err := keep(tx, site, &p); err != nil {
			return err
		}
		return s.seen(tx, site, &p, now)
	})
}

// siteOf is the site of a token; api.ErrForbidden if it is none.
func (s *Service) siteOf(ctx context.Context, token string, now time.Time) (site string, err error) {
	err = s.core.Read(ctx, func(tx *store.Tx) error {
		return tx.Row("SELECT account FROM tokens WHERE digest = ? AND scope = ? AND expires > ?", []any{lead.Digest(token), scope, now}, &site)
	})
	if errors.Is(err, store.ErrNone) {
		return "", api.ErrForbidden
	}
	return site, err
}

// keep writes a part, once.
func keep(tx *store.Tx, site string, p *api.FleetPart) error {
	body := base64.StdEncoding.EncodeToString(p.Profile)
	digest := lead.Digest(fmt.Sprint(p.To, " ", body))
	has := ""
	switch err := tx.Row("SELECT digest FROM fleet_parts WHERE site = ? AND kind = ? AND minute = ? AND host = ? AND file = ? AND from_byte = ?", []any{site, p.Kind, p.Minute, p.Host, p.File, p.From}, &has); {
	case err == nil && has == digest:
		return nil
	case err == nil:
		return refused("conflict", "another part of the same bytes is kept: two agents have the name %s", p.Host)
	case !errors.Is(err, store.ErrNone):
		return err
	}
	_, err := tx.Exec("INSERT INTO fleet_parts (site, kind, minute, host, file, from_byte, to_byte, digest, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", site, p.Kind, p.Minute, p.Host, p.File, p.From, p.To, digest, body)
	return err
}

// seen notes when a host sent something, and removes parts that are too old.
func (s *Service) seen(tx *store.Tx, site string, p *api.FleetPart, now time.Time) error {
	off := p.Sent.Sub(now)
	n, err := tx.Exec("UPDATE fleet_hosts SET seen = ?, clock_off = ?, trouble = ? WHERE site = ? AND host = ?", now, off, p.Trouble, site, p.Host)
	if err == nil && n == 0 {
		hosts := 0
		if err := tx.Row("SELECT COUNT(*) FROM fleet_hosts WHERE site = ?", []any{site}, &hosts); err != nil {
			return err
		}
		if hosts >= maxHosts {
			return refused("too-many", "the site has %d hosts, and %s is none of them", hosts, p.Host)
		}
		_, err = tx.Exec("INSERT INTO fleet_hosts (site, host, seen, clock_off, trouble) VALUES (?, ?, ?, ?, ?)", site, p.Host, now, off, p.Trouble)
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM fleet_parts WHERE site = ? AND kind = ? AND minute < ?", site, p.Kind, now.Add(-keptFor))
	return err
}

// Fleet implements api.FleetCalls.
func (s *Service) Fleet(ctx context.Context, who api.Who, a api.FleetAsk) (*api.FleetProfile, error) {
	switch {
	case !who.Role.Staff():
		return nil, api.ErrForbidden
	case sources[a.Kind] == iikanji.SourceUnknown:
		return nil, api.ErrNotFound
	case !a.Until.After(a.Since) || a.Until.Sub(a.Since) > keptFor:
		return nil, &api.BadRequestError{Text: "want minutes of at most 24 hours"}
	}
	out := &api.FleetProfile{Hosts: []api.FleetHost{}}
	var parts []*iikanji.Profile
	sent, weight := map[string]map[int64]bool{}, int64(0) // minutes by host
	err := s.core.Read(ctx, func(tx *store.Tx) error {
		err := tx.Each("SELECT host, minute, body FROM fleet_parts WHERE site = ? AND kind = ? AND minute >= ? AND minute < ? ORDER BY minute, host, file, from_byte LIMIT "+strconv.Itoa(maxParts+1), []any{a.Site, a.Kind, a.Since, a.Until}, func(scan func(...any) error) error {
			host, body, at := "", "", int64(0)
			if err := scan(&host, &at, &body); err != nil {
				return err
			}
			if sent[host] == nil {
				sent[host] = map[int64]bool{}
			}
			sent[host][at] = true
			if out.Parts++; out.Parts > maxParts {
				return refused("too-many", "there are more than %d parts: ask for a shorter time", maxParts)
			}
			if body == "" {
				return nil
			}
			p, weighs, err := kept(body, a.Kind)
			if weight += weighs; err == nil && weight > maxWeight {
				return refused("too-many", "the parts need more than %d MiB: ask for a shorter time", maxWeight>>20)
			}
			parts = append(parts, p)
			return err
		})
		if err != nil {
			return err
		}
		return tx.Each("SELECT host, seen, clock_off, trouble FROM fleet_hosts WHERE site = ? ORDER BY host", []any{a.Site}, func(scan func(...any) error) error {
			h, off := api.FleetHost{}, int64(0)
			if err := scan(&h.Host, &h.Seen, &off, &h.Trouble); err != nil {
				return err
			}
			if h.Offset = time.Duration(off); h.Offset.Abs() <= clockLimit {
				h.Offset = 0
			}
			out.Hosts = append(out.Hosts, h)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if len(out.Hosts) == 0 {
		return nil, api.ErrNotFound
	}
	count(out.Hosts, sent)
	if len(parts) > 0 {
		out.Profile, err = kinds[a.Kind](parts...)
	}
	return out, err
}

// count counts the minutes of each host that came, and those that did not, between the first and the
// last one of all hosts: a minute that may still come is not missing.
func count(hosts []api.FleetHost, sent map[string]map[int64]bool) {
	first, last := int64(0), int64(0)
	for _, minutes := range sent {
		for at := range minutes {
			if first == 0 || at < first {
				first = at
			}
			last = max(last, at)
		}
	}
	for i := range hosts {
		h := &hosts[i]
		if h.Minutes = len(sent[h.Host]); last > 0 {
			h.Missing = int((last-first)/minute.Microseconds()) + 1 - h.Minutes
		}
	}
}

// unpack reads a packed profile, and weighs it: about how much memory it needs, in bytes.
func unpack(packed []byte, kind string) (p *iikanji.Profile, weight int64, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, 0, fmt.Errorf("unpacking: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("unpacking: %w", err)
	case len(text) > maxProfile:
		return nil, 0, fmt.Errorf("it has more than %d bytes", maxProfile)
	}
	p = &iikanji.Profile{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, 0, fmt.Errorf("reading: %w", err)
	}
	if p.Source != sources[kind] || p.Version > iikanji.ProfileVersion {
		return nil, 0, fmt.Errorf("it is no profile of the kind %s of a version up to %d", kind, iikanji.ProfileVersion)
	}
	if what := excess(p, kind); what != "" {
		return nil, 0, fmt.Errorf("it has %s", what)
	}
	p.Intake.Files, p.Intake.BadLines, p.Target = nil, nil, ""
	entries := len(p.Rows) + len(p.Transactions) + len(p.Repeats) + len(p.Slowest)
	return p, int64(len(text) + rowWeight*entries), nil
}

// mergeable checks a packed profile before it is kept: it can be read, and its sketches merged. A
// question merges what is kept without this check.
func mergeable(packed []byte, kind string) error {
	p, _, err := unpack(packed, kind)
	if err != nil {
		return err
	}
	_, err = kinds[kind](p)
	return err
}

// excess is what a profile has more of than the readers of logs make; "" for nothing. Merging takes
// more than linear time and stack in some of it.
func excess(p *iikanji.Profile, kind string) string {
	switch {
	case len(p.Rows) > 25_000 || len(p.Transactions) > 6000 || len(p.Repeats) > 25_000:
		return "too many rows"
	case len(p.Slowest) > 1000 || len(p.Notes) > 200:
		return "too many requests or notes"
	case len(p.Intake.Format) > 1000:
		return "too long a name of a format"
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		if kind == "access" && strings.Count(r.Key, "/") > 100 {
			return "a route with too many segments"
		}
		if q := r.Query; q != nil && len(q.DBs)+len(q.Users)+len(q.Hosts)+len(q.Tables)+len(q.Spreads) > 2000 {
			return "a statement with too many names"
		}
	}
	return ""
}

// pack packs a profile.
func pack(p *iikanji.Profile) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(z).Encode(p), z.Close()); err != nil {
		return nil, fmt.Errorf("packing a profile: %w", err)
	}
	return out.Bytes(), nil
}

// kept reads the profile of a kept part.
func kept(body, kind string) (p *iikanji.Profile, weight int64, err error) {
	packed, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return nil, 0, fmt.Errorf("reading a part: %w", err)
	}
	return unpack(packed, kind)
}
