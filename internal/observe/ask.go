package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/diagnose"
	"github.com/iikanji/iikanji/internal/facts"
	"github.com/iikanji/iikanji/internal/host"
)

// planned is how many digests, the heaviest ones, have their plan read.
const planned = 12

// askDatabase collects the form of the database, what is to be counted in it,
// and the plans of the heaviest statements. Without a server there is none.
func askDatabase(ctx context.Context, srv *facts.Server, schema string, ob *Observation) ([]iikanji.Fact, error) {
	const target = "database"
	if srv == nil {
		return nil, nil // the sensor of the slow log says why
	}
	known, tables, err := srv.All(ctx, target, schema)
	if err != nil {
		return nil, err
	}
	known = append(known, ob.Status...)
	s, err := diagnose.ReadSchema(known)
	if err != nil {
		return nil, err
	}
	load := diagnose.WorkloadOf(ob.Profiles)
	tellUnread(ob, s.Unread(load))
	for _, q := range s.Questions(load) {
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
			ob.Run.Warnings = append(ob.Run.Warnings, fmt.Sprintf("advice on %s goes by the server's estimates: %v", q.Table, err))
		}
		known = append(known, facts.TableFacts(target, tables[i])...) // the last word on a table counts
		known = append(known, facts.SelectivityFacts(target, tables[i], shares)...)
	}
	return append(known, plans(ctx, srv, target, schema, ob.Profiles)...), ctx.Err()
}

// count counts in a table what its advice depends on.
func count(ctx context.Context, srv *facts.Server, t *facts.SizedTable, q diagnose.Question) (map[string]float64, error) {
	if err := srv.Distinct(ctx, t, q.Columns); err != nil {
		return nil, err
	}
	return srv.Selectivity(ctx, *t, q.Predicates)
}

// queryWord begins what could have advice.
var queryWord = regexp.MustCompile(`(?i)^\s*\(?\s*(select|insert|update|delete|replace|with)\b`)

// tellUnread warns of statements that took time and are not understood.
// Statements that are of no query (SET, SHOW, COMMIT) are left out.
func tellUnread(ob *Observation, unread []diagnose.Unread) {
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

// plans reads the plans of the heaviest statements: each by its slowest example
// and by one near the median, with the schema that they were sent to. One that
// cannot be planned (it reads nothing, its table is gone) has none.
func plans(ctx context.Context, srv *facts.Server, target, schema string, profiles []iikanji.Profile) []iikanji.Fact {
	var out []iikanji.Fact
	read, in := 0, schema
	for _, p := range profiles {
		if p.Source != iikanji.Slow {
			continue
		}
		for _, r := range p.Rows {
			if r.Query == nil || r.Example.Text == "" || read == planned {
				continue
			}
			want := cmp.Or(r.Query.DB, schema)
			if want != in && srv.Use(ctx, want) != nil {
				continue
			}
			in = want
			worst, ok := plan(ctx, srv, r.Example.Text)
			if !ok {
				continue
			}
			read++
			out = append(out, facts.PlanFact(target, r.Query.Digest, worst))
			if typical := r.Query.Typical.Text; typical != "" && typical != r.Example.Text {
				if p, ok := plan(ctx, srv, typical); ok {
					out = append(out, facts.PlanFact(target, r.Query.Digest+iikanji.TypicalPlan, p))
				}
			}
		}
	}
	return out
}

// plan runs a statement again where that is harmless and short, and asks for
// its plan where not.
func plan(ctx context.Context, srv *facts.Server, sql string) (iikanji.Plan, bool) {
	p, err := srv.Analyze(ctx, sql)
	if err != nil { // too slow to be run again, perhaps
		p, err = srv.Explain(ctx, sql)
	}
	return p, err == nil
}

// askNginx has the program that runs as nginx print its whole configuration,
// which is the first fact, and its version.
// A target without nginx has none.
func askNginx(ctx context.Context, t iikanji.Target) ([]iikanji.Fact, error) {
	i := slices.IndexFunc(t.Services, func(s iikanji.Service) bool { return s.Engine == iikanji.EngineNginx })
	if i < 0 || len(t.Services[i].PIDs) == 0 || len(t.Services[i].Configs) == 0 {
		return nil, nil
	}
	s := t.Services[i]
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PIDs[0]))
	if err != nil {
		return nil, fmt.Errorf("finding the program of nginx: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	r, err := host.Local{}.Exec(ctx, host.Command{Path: program, Args: []string{"-T", "-q", "-c", s.Configs[0]}})
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
	if r, err = (host.Local{}).Exec(ctx, host.Command{Path: program, Args: []string{"-v"}}); err != nil {
		return known, err
	}
	version, err := facts.NginxVersionFact(s.Name, string(r.Output))
	if err != nil {
		return known, err
	}
	return append(known, version), nil
}

// askUnits reads how systemd would start the services of a target after a
// reboot. Services that it does not run, as those of an arena, have no facts.
func askUnits(t iikanji.Target, ob *Observation) []iikanji.Fact {
	units, err := facts.UnitFacts(t)
	if err != nil {
		ob.Run.Warnings = append(ob.Run.Warnings, "less is known of how services start: "+err.Error())
	}
	if len(units) == 0 {
		return nil
	}
	return append(units, facts.ReadyFacts(t)...)
}

// askAnswers asks the web server for one URL of each route. Answers may be
// files in folders.
func askAnswers(ctx context.Context, t iikanji.Target, folders []string, seen []iikanji.Fact) ([]iikanji.Fact, error) {
	urls := urlsToAsk(seen)
	if len(urls) == 0 {
		return nil, nil
	}
	base, err := address(t)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*askLimit)
	defer cancel()
	known, err := facts.AnswerFacts(ctx, "nginx", base, urls, folders)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // what did answer is known
	}
	return known, err
}
