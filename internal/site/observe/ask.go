package observe

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/boot"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// answersLimit bounds the time of all requests to one web server.
const answersLimit = 30 * time.Second

// mostExplained is how many of the heaviest digests have their query plans read.
const mostExplained = 12

// Ask collects the facts that a diagnosis of an observation needs, after the
// load, so that it costs the run nothing.
func (o *Observer) Ask(ctx context.Context, ob *Observation) ([]iikanji.Fact, error) {
	var known []iikanji.Fact
	for _, q := range o.questions(ob) {
		f, err := q.ask(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			ob.Run.Warnings = append(ob.Run.Warnings, "less is known about "+q.of+": "+err.Error())
		}
		known = append(known, f...)
	}
	known = append(known, o.values(ctx, ob, known)...)
	known = append(known, ob.Seen...)
	for _, w := range o.hosts {
		known = append(known, askUnits(w.h, o.w.Target, ob)...)
		known = append(known, o.askBoot(ctx, w.h, ob)...)
	}
	return o.w.placed(known), nil
}

// askBoot reads what a reboot of a host would lose, where systemd has booted it: without
// systemd nothing here tells what starts the services.
func (o *Observer) askBoot(ctx context.Context, h host.Host, ob *Observation) []iikanji.Fact {
	if !boot.Systemd(h) {
		return nil
	}
	b, err := (&boot.Asker{Host: h, Target: o.w.Target, DB: o.pool}).Read(ctx)
	if err != nil {
		ob.Run.Warnings = append(ob.Run.Warnings, "less is known about what a reboot would lose: "+err.Error())
		return nil
	}
	return []iikanji.Fact{boot.Fact(h, b)}
}

// pool is the pool to a database server of the site; nil for none.
func (o *Observer) pool(service string) *sql.DB {
	for _, d := range o.databases {
		if d.service.Name == service && d.asker != nil {
			return d.db
		}
	}
	return nil
}

// values are the answers among the facts that are values in a database, byte for byte.
func (o *Observer) values(ctx context.Context, ob *Observation, known []iikanji.Fact) []iikanji.Fact {
	answers := map[string]fact.Answer{}
	for f, a := range fact.TopicAnswer.In(known) {
		if a.MD5 != "" {
			answers[f.Key] = a
		}
	}
	var out []iikanji.Fact
	for _, d := range o.databases {
		if d.asker == nil || d.passive || len(answers) == 0 {
			continue
		}
		more, err := d.asker.ValueFacts(ctx, d.service.Name, d.tables, answers)
		o.doubt(ob, err)
		out = append(out, more...)
	}
	return out
}

// A question collects facts of one service.
type question struct {
	of  string
	ask func(context.Context) ([]iikanji.Fact, error)
}

func (o *Observer) questions(ob *Observation) []question {
	var out []question
	for _, d := range o.databases {
		of := "the database"
		if d.several {
			of = "the database " + d.service.Name
		}
		out = append(out, question{of, func(ctx context.Context) ([]iikanji.Fact, error) { return askDatabase(ctx, d, ob) }})
	}
	for _, f := range o.files {
		of := "the database"
		if f.several {
			of += " " + f.service.Name
		}
		out = append(out, question{of, func(ctx context.Context) ([]iikanji.Fact, error) { return askFiles(ctx, f, ob) }})
	}
	for _, c := range o.caches {
		out = append(out, question{"the cache " + c.service.Name, func(context.Context) ([]iikanji.Fact, error) { return c.known() }})
	}
	for _, e := range o.envoys {
		out = append(out, question{"the web server " + e.service.Name, func(context.Context) ([]iikanji.Fact, error) { return e.known() }})
	}
	webs := make([]string, len(o.webs))
	for i, w := range o.webs {
		if webs[i] = "the web server"; w.several {
			webs[i] += " " + w.service.Name
		}
		out = append(out, question{webs[i], func(context.Context) ([]iikanji.Fact, error) { return w.known, w.asked }})
		out = append(out, question{"the pages that " + w.service.Name + " keeps", func(context.Context) ([]iikanji.Fact, error) {
			known, err := facts.KeptPages(w.host, w.service.Name, w.conf)
			ob.Run.Warnings = append(ob.Run.Warnings, facts.StalePages(known)...)
			return known, err
		}})
	}
	for i, w := range o.webs {
		if o.w.Passive {
			break
		}
		out = append(out, question{webs[i], func(ctx context.Context) ([]iikanji.Fact, error) {
			if len(o.clients.Users) == 0 {
				o.clients.Candidates = o.candidates()
			}
			return askAnswers(ctx, w.host, o.w.Target.Bench.URL, w.service, facts.FileFolders(o.appProcesses(), w.conf), ob.Seen, o.clients)
		}})
	}
	return out
}

// appProcesses are those of the apps of all machines.
func (o *Observer) appProcesses() (out []facts.AppProcess) {
	for _, s := range o.w.Target.WithRole(iikanji.RoleApp) {
		for _, pid := range o.processIDs(s) {
			out = append(out, facts.AppProcess{Host: o.w.host(s.Host), PID: pid})
		}
	}
	return out
}

// ofTarget are the profiles of one service.
func ofTarget(profiles []iikanji.Profile, service string) []iikanji.Profile {
	return slices.DeleteFunc(slices.Clone(profiles), func(p iikanji.Profile) bool { return p.Target != service })
}

// askDatabase collects the definitions of a database's tables, the counts in them,
// and the plans of the heaviest statements. A server that does not answer has
// no facts.
func askDatabase(ctx context.Context, d *databaseWatch, ob *Observation) ([]iikanji.Fact, error) {
	srv, target := d.asker, d.service.Name
	if srv == nil {
		return nil, nil // the error is in the sensor of its statements
	}
	known, tables, err := srv.All(ctx, target, d.schema)
	if err != nil {
		return nil, err
	}
	d.tables = tables
	known = append(known, d.status()...)
	s, err := index.ReadSchema(known)
	if err != nil {
		return nil, err
	}
	statements := ofTarget(ob.Profiles, target)
	load := index.WorkloadOf(statements)
	tellUnread(ob, s.Unread(load))
	for _, q := range s.Questions(load) {
		if d.passive { // counting reads whole tables
			break
		}
		i := slices.IndexFunc(tables, func(t facts.SizedTable) bool {
			return strings.EqualFold(t.Schema, q.Schema) && strings.EqualFold(t.Name, q.Table)
		})
		if i < 0 {
			continue
		}
		shares, err := count(ctx, srv, &tables[i], q)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil { // too large to be counted in the time that a question has
			ob.Run.Warnings = append(ob.Run.Warnings, fmt.Sprintf("advice on %s is based on the server's estimates: %v", q.Table, err))
		} else if tables[i].Ranged() {
			ob.Run.Warnings = append(ob.Run.Warnings, fmt.Sprintf("advice on %s is based on a sample of ranges of its primary key: counting in all of it took too long", q.Table))
		}
		known = append(known, facts.TableFacts(target, tables[i])...) // the last fact about a table counts
		known = append(known, facts.SelectivityFacts(target, tables[i], shares)...)
	}
	return append(known, queryPlans(ctx, srv, target, d.schema, statements, !d.passive)...), ctx.Err()
}

// count counts in a table the values that its advice depends on.
func count(ctx context.Context, srv *facts.Server, t *facts.SizedTable, q index.Question) (map[string]float64, error) {
	if err := srv.Distinct(ctx, t, q.Columns); err != nil {
		return nil, err
	}
	return srv.Selectivity(ctx, t, q.Predicates)
}

// queryWord is the start of a statement that advice could be about.
var queryWord = regexp.MustCompile(`(?i)^\s*\(?\s*(select|insert|update|delete|replace|with)\b`)

// tellUnread warns of statements that took time and could not be parsed. Statements
// that are not queries (SET, SHOW, COMMIT) are left out.
func tellUnread(ob *Observation, unread []index.Unread) {
	seconds, first := 0.0, ""
	n := 0
	for _, u := range unread {
		if !queryWord.MatchString(u.Query.SQL) {
			continue
		}
		n++
		seconds += u.Query.Seconds
		if first == "" {
			first = u.Query.SQL
		}
	}
	if n > 0 {
		ob.Run.Warnings = append(ob.Run.Warnings, fmt.Sprintf("%d kinds of statements, %.1f s, could not be understood and have no advice, as in %.120s", n, seconds, first))
	}
}

// queryPlans reads the query plans of the heaviest statements: of the slowest example of each
// and of one near the median, in the schema that they were sent to. A statement
// that has no query plan (it reads no rows, its table was dropped) is left out.
func queryPlans(ctx context.Context, srv *facts.Server, target, schema string, profiles []iikanji.Profile, again bool) []iikanji.Fact {
	var out []iikanji.Fact
	read, in := 0, schema
	for _, p := range profiles {
		if p.Source != iikanji.Slow {
			continue
		}
		for _, r := range p.Rows {
			if r.Query == nil || r.Example.Text == "" || read == mostExplained {
				continue
			}
			want := cmp.Or(r.Query.DB, schema)
			if want != in && srv.Use(ctx, want) != nil {
				continue
			}
			in = want
			worst, ok := queryPlan(ctx, srv, r.Example.Text, again)
			if !ok {
				continue
			}
			read++
			out = append(out, facts.QueryPlanFact(target, r.Query.Digest, worst))
			if typical := r.Query.Typical.Text; typical != "" && typical != r.Example.Text {
				if p, ok := queryPlan(ctx, srv, typical, again); ok {
					out = append(out, facts.QueryPlanFact(target, r.Query.Digest+fact.TypicalSuffix, p))
				}
			}
		}
	}
	return out
}

// queryPlan runs a statement again if that is permitted, harmless and short, and
// otherwise reads its query plan only.
func queryPlan(ctx context.Context, srv *facts.Server, sql string, again bool) (catalog.QueryPlan, bool) {
	if !again {
		p, err := srv.Explain(ctx, sql)
		return p, err == nil
	}
	p, err := srv.Analyze(ctx, sql)
	if err != nil { // perhaps too slow to be run again
		p, err = srv.Explain(ctx, sql)
	}
	return p, err == nil
}

// askNginx has the program that runs as nginx print its whole configuration,
// which is the first fact, and its version. A service of another engine, or
// whose process is not known, has no facts.
func askNginx(ctx context.Context, h host.Host, s iikanji.Service) ([]iikanji.Fact, error) {
	if s.Engine != iikanji.EngineNginx || len(s.PIDs) == 0 || len(s.Configs) == 0 {
		return nil, nil
	}
	program, err := h.Readlink(fmt.Sprintf("/proc/%d/exe", s.PIDs[0]))
	if err != nil {
		return nil, fmt.Errorf("finding the program of nginx: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	r, err := h.Exec(ctx, host.Command{Path: program, Args: append([]string{"-T", "-q", "-c", s.Configs[0]}, nginxPrefix(h, s.PIDs[0])...)})
	if err != nil {
		return nil, err
	}
	if r.Status != 0 {
		return nil, fmt.Errorf("asking nginx for its configuration: exit status %d: %.200s", r.Status, r.Output)
	}
	known, err := facts.NginxFacts(s.Name, string(r.Output))
	if err != nil {
		return nil, err
	}
	if r, err = h.Exec(ctx, host.Command{Path: program, Args: []string{"-v"}}); err != nil {
		return known, err
	}
	version, err := facts.NginxVersionFact(s.Name, string(r.Output))
	if err != nil {
		return known, err
	}
	return append(known, version), nil
}

// nginxPrefix is the option -p of a running nginx, by which it resolves relative
// paths; nil without one.
func nginxPrefix(h host.Host, pid int) []string {
	b, err := h.Read(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	// The title of a master is its command line, joined by spaces.
	words := strings.FieldsFunc(string(b), func(r rune) bool { return r == ' ' || r == 0 })
	for i, w := range words {
		switch path, attached := strings.CutPrefix(w, "-p"); {
		case w == "-p" && i+1 < len(words):
			return []string{"-p", words[i+1]}
		case attached && strings.HasPrefix(path, "/"):
			return []string{"-p", path}
		}
	}
	return nil
}

// askUnits reads how systemd would start the services of a target on a host after a
// reboot. Services without a unit, such as those of an arena, have no facts.
func askUnits(h host.Host, t iikanji.Target, ob *Observation) []iikanji.Fact {
	units, err := facts.UnitFacts(h, t)
	if err != nil {
		ob.Run.Warnings = append(ob.Run.Warnings, "less is known about how services start: "+err.Error())
	}
	if len(units) == 0 {
		return nil
	}
	return append(units, facts.ReadyFacts(h, t)...)
}

// askAnswers requests one URL of each route that a web server served, as the clients
// of a site did. Answers may be files in folders.
func askAnswers(ctx context.Context, h host.Host, site string, s iikanji.Service, folders []string, seen []iikanji.Fact, clients facts.Clients) ([]iikanji.Fact, error) {
	urls := urlsToAsk(seen, s.Name)
	if len(urls) == 0 {
		return nil, nil
	}
	if s.Address == "" {
		return nil, fmt.Errorf("the service %s has no address", s.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, answersLimit)
	defer cancel()
	clients.Others = othersToAsk(seen, s.Name)
	known, err := facts.AnswerFacts(ctx, facts.Through(h, s.Address), s.Name, baseOf(site, s.Address), urls, folders, clients)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // what did answer is known
	}
	return known, errors.Join(err, allRefused(known))
}

// baseOf is the base of the URLs by which a web server at an address is requested: the
// scheme and the host of the site's URL where the server listens at its port, because
// it may answer by the name of the host, or over TLS only. Another server is requested
// over HTTP, with the name of the site.
func baseOf(site, address string) string {
	u, err := url.Parse(site)
	_, port, split := net.SplitHostPort(address)
	if err != nil || split != nil || u.Hostname() == "" {
		return "http://" + address
	}
	at := u.Port()
	if at == "" {
		at = map[string]string{"https": "443"}[u.Scheme]
		if at == "" {
			at = "80"
		}
	}
	if at == port {
		return u.Scheme + "://" + u.Host
	}
	return "http://" + net.JoinHostPort(u.Hostname(), port)
}

// allRefused is an error if no answer was a success, although each URL had been
// answered with one in the run: the requests are not those of the site's clients.
func allRefused(known []iikanji.Fact) error {
	first := 0
	for _, a := range fact.TopicAnswer.In(known) {
		if a.Status < 400 {
			return nil
		}
		if first == 0 {
			first = a.Status
		}
	}
	if first == 0 {
		return nil
	}
	return fmt.Errorf("no URL of the run is answered now, without cookies: the first has status %d", first)
}
