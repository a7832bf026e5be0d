package contest

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// idForm is the form of ids: they are parts of addresses and subjects.
var idForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// ValidID reports whether a text may be an id.
func ValidID(id string) bool { return idForm.MatchString(id) }

// usual are the divisions that need no declaration.
var usual = []string{"general", "newcomer", "guest", "bot", "agent"}

// Ranked reports whether teams of a division have ranks.
func (c *Contest) Ranked(division string) bool {
	for _, d := range c.Divisions {
		if d.ID == division {
			return !d.Unranked
		}
	}
	return division != "guest" && division != "bot"
}

// rules checks what concerns several keys.
func (d *decoder) rules(c *Contest) {
	d.id("id", c.ID)
	if len(c.Name) == 0 {
		d.at("", "name is missing")
	}
	if len(c.Rounds) == 0 {
		d.at("", "there is no round: write [[rounds]]")
	}
	d.registrationRules(&c.Registration)
	rounds, divisions := map[string]bool{}, map[string]bool{}
	for _, word := range usual {
		divisions[word] = true
	}
	declared := map[string]bool{}
	for i, v := range c.Divisions {
		path := "divisions." + strconv.Itoa(i+1)
		d.id(path+".id", v.ID)
		if declared[v.ID] {
			d.at(path+".id", "division %s is declared twice", v.ID)
		}
		declared[v.ID], divisions[v.ID] = true, true
		if v.Rule != "" && !strings.HasPrefix(v.Rule, "all ") {
			d.at(path+".rule", `rule: want "all WORD", not %q`, v.Rule)
		}
	}
	for i := range c.Rounds {
		r, path := &c.Rounds[i], "rounds."+strconv.Itoa(i+1)
		d.id(path+".id", r.ID)
		if rounds[r.ID] {
			d.at(path+".id", "round %s is declared twice", r.ID)
		}
		rounds[r.ID] = true
		d.roundRules(c, r, path, divisions)
	}
	for i := range c.Problems {
		d.problemRules(&c.Problems[i])
	}
	d.targetRules(c)
}

// registrationRules checks how teams are made.
func (d *decoder) registrationRules(g *Registration) {
	if !g.Open.IsZero() && !g.Close.IsZero() && !g.Close.After(g.Open) {
		d.at("registration.close", "registration closes before it opens")
	}
	if g.Teams > 0 && g.Reserved > g.Teams {
		d.at("registration.reserved", "reserved: %d of %d places", g.Reserved, g.Teams)
	}
	known := map[string]bool{}
	for i, q := range g.Questions {
		path := "registration.questions." + strconv.Itoa(i+1)
		d.id(path+".id", q.ID)
		if known[q.ID] {
			d.at(path+".id", "question %s is asked twice", q.ID)
		}
		if known[q.ID] = true; len(q.Text) == 0 {
			d.at(path, "a question needs a text")
		}
	}
}

func (d *decoder) id(path, id string) {
	if !idForm.MatchString(id) {
		d.at(path, "id: want up to 32 of a-z, 0-9 and -, not %q", id)
	}
}

func (d *decoder) roundRules(c *Contest, r *Round, path string, divisions map[string]bool) {
	if c.Problem(r.Problem) == nil {
		d.at(path+".problem", "there is no [problem.%s]", r.Problem)
	}
	if r.Kind != Open && (r.Start.IsZero() || r.Length <= 0) {
		d.at(path, "a %s round needs start and hours", r.Kind)
	}
	if r.Kind == Window && r.Until.Before(r.Start.Add(r.Length)) {
		d.at(path+".until", "a window round needs until, at least hours after start")
	}
	if r.Freeze > 0 && (r.Kind != Live || r.Freeze >= r.Length) {
		d.at(path+".freeze", "freeze: want less than the hours of a live round")
	}
	for _, tie := range r.Rules.Ties {
		if tie != TieBest && tie != TieEarlier {
			d.at(path+".rules.ties", "ties: want best or earlier, not %q", string(tie))
		}
	}
	if r.Final.Runs > 0 && r.Final.Pass > r.Final.Runs {
		d.at(path+".final.pass", "pass: %d of %d runs cannot pass", r.Final.Pass, r.Final.Runs)
	}
	for division := range r.Queue.Budgets {
		if division != "" && !divisions[division] {
			d.at(path+".queue.budget."+division, "budget: there is no division %s", division)
		}
	}
	d.hintRules(r, path)
	awards := map[string]bool{}
	for i, p := range r.Prizes {
		at := path + ".prizes." + strconv.Itoa(i+1)
		d.id(at+".id", p.ID)
		if awards[p.ID] {
			d.at(at+".id", "prize %s is declared twice", p.ID)
		}
		awards[p.ID] = true
		switch {
		case p.Kind == "best_of" && !divisions[p.Of]:
			d.at(at+".of", "best_of: there is no division %q", p.Of)
		case p.Kind == "biggest_jump" && p.Of != "ratio" && p.Of != "points":
			d.at(at+".of", "biggest_jump: of is ratio or points, not %q", p.Of)
		case p.Kind == "first_above" && p.At <= 0:
			d.at(at, "first_above: at is the score, above 0")
		}
	}
}

// hintRules checks the hints of a round.
func (d *decoder) hintRules(r *Round, path string) {
	known := map[string]bool{}
	for i, h := range r.Hints {
		at := path + ".hints." + strconv.Itoa(i+1)
		d.id(at+".id", h.ID)
		if known[h.ID] {
			d.at(at+".id", "hint %s is declared twice", h.ID)
		}
		known[h.ID] = true
		if len(h.Text) == 0 {
			d.at(at, "a hint needs a text")
		}
		if h.Above < 0 {
			d.at(at+".above", "above: want a score from 0")
		}
	}
}

func (d *decoder) problemRules(p *Problem) {
	path := "problem." + p.ID
	d.id(path, p.ID)
	switch {
	case p.Arena == "" && len(p.Command) == 0:
		d.at(path, "a problem has an arena or a command")
	case p.Arena != "" && len(p.Command) > 0:
		d.at(path+".command", "a problem has an arena or a command, not both")
	case p.Arena != "" && p.Report != "":
		d.at(path+".report", "report is of commands")
	}
	if p.Arena != "" && !ValidID(p.Arena) {
		d.at(path+".arena", "arena: want a name such as isucondition, not %q", p.Arena)
	}
	for _, port := range p.Callbacks {
		if port < 1024 {
			d.at(path+".callbacks", "callbacks: %d is below 1024: a benchmarker without rights cannot listen there", port)
		}
	}
	if len(p.Callbacks) > 8 {
		d.at(path+".callbacks", "callbacks: at most 8 ports")
	}
	for name, value := range p.Set {
		if strings.Contains(value, Callback) && len(p.Callbacks) == 0 {
			d.at(path+".set."+name, "set: %s needs ports in callbacks", Callback)
		}
	}
	if p.Shards > 1 && p.Arena == "" {
		d.at(path+".shards", "shards are of arenas")
	}
	d.shadowRules(p, path+".shadow")
	if p.Timeout < p.Load {
		d.at(path+".timeout", "timeout is shorter than the load")
	}
	if p.Seed != "per-job" {
		if _, err := strconv.ParseUint(p.Seed, 10, 64); err != nil {
			d.at(path+".seed", `seed: want "per-job" or a number in quotes, not %q`, p.Seed)
		}
	}
}

// shadowRules checks which pages are asked after a run.
func (d *decoder) shadowRules(p *Problem, path string) {
	if len(p.Shadow.Pages) > MostShadows {
		d.at(path+".pages", "shadow: at most %d pages", MostShadows)
	}
	for _, page := range p.Shadow.Pages {
		if !strings.HasPrefix(page, "/") || strings.HasPrefix(page, "//") || len(page) > 200 || strings.ContainsFunc(page, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) {
			d.at(path+".pages", "shadow: want paths such as /about, not %q", page)
		}
	}
	if agent := p.Shadow.Agent; len(p.Shadow.Pages) > 0 && agent == "" || len(agent) > 200 || strings.ContainsFunc(agent, func(r rune) bool { return r < ' ' || r > '~' }) {
		d.at(path, "shadow: agent is the User-Agent of the benchmarker, not %q", agent)
	}
}

func (d *decoder) targetRules(c *Contest) {
	for _, text := range c.Targets.Allow {
		p, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			d.at("targets.allow", "allow: want networks such as 10.20.0.0/16, not %q", text)
		case p.Addr().IsLoopback() && !c.Local:
			d.at("targets.allow", "allow: %s is loopback: only with local = true", text)
		case p.Addr().IsLinkLocalUnicast() || p.Addr().IsMulticast():
			d.at("targets.allow", "allow: %s is link-local or multicast", text)
		}
	}
	if !c.Local && len(c.Targets.Allow) == 0 {
		d.at("targets", "targets.allow is missing: the networks of the teams' hosts, or local = true for a training")
	}
}
