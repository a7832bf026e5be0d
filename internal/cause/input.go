package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/pingcap/tidb/pkg/parser"
)

// An Input is what was observed of a run and of its services. Any part may be
// missing: the rules that need it then make no findings.
type Input struct {
	Run *iikanji.Run
	// Target has the services that findings and remedies name. Without any,
	// they are inferred from the facts.
	Target   iikanji.Target
	Profiles []iikanji.Profile
	Facts    []iikanji.Fact
	// Blind are sensors whose proof failed in this run; findings that need
	// them are held back.
	Blind []iikanji.Source
	// BlindWhy has the reasons for people; entries may be missing.
	BlindWhy map[iikanji.Source]string
	// BlindAt are sensors whose proof failed for one service while those of
	// others hold: only evidence about this service is held back.
	BlindAt []Blindness
	// Levers are the rewrites whose places may be in the facts.
	Levers []Lever

	settled bool               // see settle
	logged  map[string]float64 // seconds of the log by digest, see withTimes
}

// A Blindness is a sensor that did not see one service, or one host.
type Blindness struct {
	Source iikanji.Source
	Target string // name of the service; of the host for iikanji.Host
	Why    string
}

// Seen reports whether the sensor of a profile saw the run.
func (in Input) Seen(p iikanji.Profile) bool {
	return !slices.Contains(in.Blind, p.Source) && !in.blindAt(p.Source, p.Target)
}

func (in Input) blindAt(s iikanji.Source, target string) bool {
	return slices.ContainsFunc(in.BlindAt, func(b Blindness) bool { return b.Source == s && b.Target == target })
}

// A View is the input as the rules see it: of the whole run, of one service,
// without what belongs to the other services of its role, or of one of several
// hosts, without what belongs to the others.
type View struct {
	Input   Input
	Self    iikanji.Service // none in the view of the whole run or of a host
	on      string          // the host; "" in other views
	Binding Binding
	causes  map[iikanji.Code]Cause // by the codes of all findings

	Databases, webs, hosts []*View // in the view of the whole run
	Sites                  []Site

	// Of one database, or of all where the view is not of a database:
	Digests []Digest
	Others  []Digest // of the other databases of the site
	Seconds float64  // of all statements
	saved   float64  // of these seconds: what the advised indexes save, see [View.Rest]
	Work    float64  // of all statements, see workOf

	// Of one database:
	Weight    float64 // of a second of its statements in the ranking, see [Input.StatementWeight]
	Schema    *index.Schema
	load      index.Workload
	Advice    index.Advice
	Variables map[string]string
	Status    map[string]float64 // growth over the run
}

// A Digest is one row of a Slow profile with the statement that was parsed from
// it.
type Digest struct {
	iikanji.Row
	Totals   index.Query
	Parsed   *index.Statement // nil when it cannot be parsed
	Database string           // the database that ran it

	Senders []Sender // the certain routes that send it
	Route   *Sender  // the one that sends nearly all of them, nil when unknown
	within  []string // the routes whose handlers can send it, by the source; none for all, or unknown
	Saved   float64  // upper bound of its seconds that an index of DB101 saves
}

func look(in Input, rules []Rule) (*View, error) {
	in = in.settle()
	v := &View{Input: in, Binding: in.Binding(), causes: causesOf(rules, in)}
	v.Sites = v.leverSites()
	for _, s := range in.Target.WithRole(iikanji.RoleDatabase) {
		d, err := v.database(s)
		if err != nil {
			return nil, err
		}
		if times := d.shortTimes(); len(times) > 0 { // all that follows is of times that fit the rows
			v.Input = v.Input.withTimes(s.Name, times)
			v.Binding = v.Input.Binding()
			if d, err = v.database(s); err != nil {
				return nil, err
			}
		}
		v.Databases = append(v.Databases, d)
	}
	for _, d := range v.Databases {
		v.Digests = append(v.Digests, d.Digests...)
		v.Seconds += d.Seconds
		v.saved += d.saved
		v.Work += d.Work
		for _, o := range v.Databases {
			if o != d {
				d.Others = append(d.Others, o.Digests...)
			}
		}
	}
	for _, s := range in.Target.WithRole(iikanji.RoleWeb) {
		v.webs = append(v.webs, v.of(s))
	}
	v.hosts = v.byHost()
	return v, nil
}

// database is the view of a database, with its schema and statements.
func (v *View) database(of iikanji.Service) (*View, error) {
	v = v.of(of)
	s, err := index.ReadSchema(v.Input.Facts)
	if err != nil {
		return nil, err
	}
	v.Weight = v.Input.weightOf(of, v.Binding)
	v.Schema, v.Variables, v.Status = s, map[string]string{}, map[string]float64{}
	for f, text := range fact.TopicVariable.In(v.Input.Facts) {
		v.Variables[strings.ToLower(f.Key)] = text
	}
	for f, grown := range fact.TopicStatus.In(v.Input.Facts) {
		v.Status[strings.ToLower(f.Key)] = grown
	}
	if !v.Blind(iikanji.Slow) {
		v.statements()
	}
	return v, nil
}

// statements reads the digests and computes the index advice.
func (v *View) statements() {
	v.load = index.WorkloadOf(v.Input.Profiles)
	p := parser.New()
	i := 0
	for _, prof := range v.Input.Profiles {
		for _, r := range prof.Rows {
			if prof.Source != iikanji.Slow || r.Query == nil {
				continue
			}
			d := Digest{Row: r, Totals: v.load.Queries[i], Database: v.Self.Name}
			d.Parsed, _ = v.Schema.Parse(p, d.Totals.SQL, d.Totals.DB)
			v.Digests = append(v.Digests, d)
			v.Seconds += d.Totals.Seconds
			v.Work += WorkOf(d)
			i++
		}
	}
	v.growTables()
	v.Advice = v.Schema.Advise(v.load)
	v.findRoutes()
	v.attribute()
}

// Blind reports whether the view's sensor of a source did not see the run.
func (v *View) Blind(s iikanji.Source) bool {
	return slices.Contains(v.Input.Blind, s) || v.Self.Name != "" && v.Input.blindAt(s, v.Self.Name) || v.on != "" && v.Input.blindAt(s, v.on)
}

// Partly reports whether the access log of any web server is missing in a view
// that needs those of all.
func (v *View) Partly() bool {
	return v.Self.Role != iikanji.RoleWeb && slices.ContainsFunc(v.Input.BlindAt, func(b Blindness) bool { return b.Source == iikanji.Access })
}

// Requests is the number of requests of the run: from the access logs or,
// without one, from the load generator; 0 when unknown.
func (v *View) Requests() float64 {
	n := 0.0
	for _, p := range v.Input.Profiles {
		if p.Source == iikanji.Access && !v.Blind(iikanji.Access) && !v.Partly() {
			for _, r := range p.Rows {
				n += float64(r.Count)
			}
		}
	}
	if n == 0 && v.Input.Run != nil {
		for _, s := range v.Input.Run.Steps {
			n += float64(s.Count)
		}
	}
	return n
}

// where is the place of a digest in a finding: its fingerprint, cut.
func (d Digest) where() string {
	f := d.Query.Fingerprint
	if f == "" {
		f = d.Totals.SQL
	}
	return Cut(f, 100)
}

// Block is the only block of a SELECT that reads a table, or nil.
func (d Digest) Block() *index.Block {
	if d.Parsed == nil || d.Parsed.Verb != "select" || len(d.Parsed.Blocks) != 1 || len(d.Parsed.Blocks[0].Refs) == 0 {
		return nil
	}
	return d.Parsed.Blocks[0]
}

// Evidence formats a digest with its counts and times.
func (d Digest) Evidence() iikanji.Evidence {
	n := max(1, d.Totals.Count)
	return iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("%s× %s: %s rows examined, %s sent each, %.1f ms, %.2f s in all",
		Number(d.Totals.Count), Cut(d.Totals.SQL, 120), Number(d.Totals.Examined/n), Number(d.Totals.Sent/n), 1000*d.Totals.Seconds/n, d.Totals.Seconds)}
}

// growTables raises row counts that the run has outgrown: the rows that a scan of one
// table examined are a lower bound.
func (v *View) growTables() {
	for _, d := range v.Digests {
		if d.Parsed == nil || len(d.Parsed.Blocks) != 1 || len(d.Parsed.Blocks[0].Refs) != 1 || d.Totals.Count == 0 {
			continue
		}
		if t := d.Parsed.Blocks[0].Refs[0].Table; t != nil {
			t.Outgrown(int64(d.Totals.Examined / d.Totals.Reads()))
		}
	}
}
