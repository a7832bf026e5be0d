package cause

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
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

	settled bool // see settle
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

// ReadSchema makes a Schema of the facts about tables, sizes, selectivities
// and the server's dialect.
func ReadSchema(facts []iikanji.Fact) (*Schema, error) {
	s := NewSchema(iikanji.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	tables, sizes := map[string]iikanji.Table{}, map[string]iikanji.TableSize{}
	for _, f := range facts {
		var err error
		switch f.Topic {
		case iikanji.TopicDialect:
			err = json.Unmarshal([]byte(f.Value), &s.Server)
		case iikanji.TopicTable:
			var t iikanji.Table
			err = json.Unmarshal([]byte(f.Value), &t)
			tables[f.Key] = t
		case iikanji.TopicSize:
			var z iikanji.TableSize
			err = json.Unmarshal([]byte(f.Value), &z)
			sizes[f.Key] = z
		case iikanji.TopicSelectivity:
			s.share[f.Key], err = strconv.ParseFloat(f.Value, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("reading fact %s %s: %w", f.Topic, f.Key, err)
		}
	}
	for key, t := range tables {
		s.Add(t, sizes[key])
	}
	return s, nil
}

// WorkloadOf takes the statements of Slow profiles, each with its slowest
// example. A row without an example is represented by its fingerprint, whose
// placeholders are unknown values.
func WorkloadOf(profiles []iikanji.Profile) Workload {
	w := Workload{Writes: map[string]float64{}}
	for _, p := range profiles {
		if p.Source != iikanji.Slow {
			continue
		}
		for _, r := range p.Rows {
			if r.Query == nil {
				continue
			}
			text := r.Example.Text
			for _, other := range []string{r.Query.Typical.Text, r.Query.Fingerprint} {
				if text == "" {
					text = other
				}
			}
			w.Queries = append(w.Queries, Query{Digest: r.Query.Digest, DB: r.Query.DB, SQL: strings.TrimSuffix(strings.TrimSpace(text), ";"),
				Count: float64(r.Count), Cached: float64(r.Query.Cached), Seconds: r.Total.Seconds(), Examined: float64(r.Query.Examined), Sent: float64(r.Query.Sent), Affected: float64(r.Query.Affected)})
		}
	}
	return w
}

// A view is the input as the rules see it: of the whole run, of one service,
// without what belongs to the other services of its role, or of one of several
// hosts, without what belongs to the others.
type view struct {
	in      Input
	self    iikanji.Service // none in the view of the whole run or of a host
	on      string          // the host; "" in other views
	binding Binding
	causes  map[iikanji.Code]Cause // by the codes of all findings

	databases, webs, hosts []*view // in the view of the whole run
	sites                  []leverSite

	// Of one database, or of all where the view is not of a database:
	digests []digest
	others  []digest // of the other databases of the site
	seconds float64  // of all statements
	saved   float64  // of these seconds: what the advised indexes save, see [view.rest]
	work    float64  // of all statements, see workOf

	// Of one database:
	weight float64 // of a second of its statements in the ranking, see [Input.StatementWeight]
	schema *Schema
	load   Workload
	advice Advice
	vars   map[string]string
	status map[string]float64 // growth over the run
}

// A digest is one row of a Slow profile with the statement that was parsed from
// it.
type digest struct {
	iikanji.Row
	q  Query
	st *statement // nil when it cannot be parsed
	in string     // the database that ran it

	senders []fit   // the certain routes that send it
	route   *fit    // the one that sends nearly all of them, nil when unknown
	saved   float64 // upper bound of its seconds that an index of DB101 saves
}

func look(in Input, rules []Rule) (*view, error) {
	in = in.settle()
	v := &view{in: in, binding: in.Binding(), causes: causesOf(rules, in)}
	v.sites = v.leverSites()
	for _, s := range in.Target.WithRole(iikanji.RoleDatabase) {
		d, err := v.database(s)
		if err != nil {
			return nil, err
		}
		v.databases = append(v.databases, d)
	}
	for _, d := range v.databases {
		v.digests = append(v.digests, d.digests...)
		v.seconds += d.seconds
		v.saved += d.saved
		v.work += d.work
		for _, o := range v.databases {
			if o != d {
				d.others = append(d.others, o.digests...)
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
func (v *view) database(of iikanji.Service) (*view, error) {
	v = v.of(of)
	s, err := ReadSchema(v.in.Facts)
	if err != nil {
		return nil, err
	}
	v.weight = v.in.weightOf(of, v.binding)
	v.schema, v.vars, v.status = s, map[string]string{}, map[string]float64{}
	for _, f := range v.in.Facts {
		switch f.Topic {
		case iikanji.TopicVariable:
			v.vars[strings.ToLower(f.Key)] = f.Value
		case iikanji.TopicStatus:
			v.status[strings.ToLower(f.Key)], _ = strconv.ParseFloat(f.Value, 64)
		}
	}
	if !v.blind(iikanji.Slow) {
		v.statements()
	}
	return v, nil
}

// statements reads the digests and computes the index advice.
func (v *view) statements() {
	v.load = WorkloadOf(v.in.Profiles)
	p := parser.New()
	i := 0
	for _, prof := range v.in.Profiles {
		for _, r := range prof.Rows {
			if prof.Source != iikanji.Slow || r.Query == nil {
				continue
			}
			d := digest{Row: r, q: v.load.Queries[i], in: v.self.Name}
			d.st, _ = v.schema.parse(p, d.q.SQL, d.q.DB)
			v.digests = append(v.digests, d)
			v.seconds += d.q.Seconds
			v.work += workOf(d)
			i++
		}
	}
	v.growTables()
	v.advice = v.schema.Advise(v.load)
	v.findRoutes()
	v.attribute()
}

// blind reports whether the view's sensor of a source did not see the run.
func (v *view) blind(s iikanji.Source) bool {
	return slices.Contains(v.in.Blind, s) || v.self.Name != "" && v.in.blindAt(s, v.self.Name) || v.on != "" && v.in.blindAt(s, v.on)
}

// partly reports whether the access log of any web server is missing in a view
// that needs those of all.
func (v *view) partly() bool {
	return v.self.Role != iikanji.RoleWeb && slices.ContainsFunc(v.in.BlindAt, func(b Blindness) bool { return b.Source == iikanji.Access })
}

// requests is the number of requests of the run: from the access logs or,
// without one, from the load generator; 0 when unknown.
func (v *view) requests() float64 {
	n := 0.0
	for _, p := range v.in.Profiles {
		if p.Source == iikanji.Access && !v.blind(iikanji.Access) && !v.partly() {
			for _, r := range p.Rows {
				n += float64(r.Count)
			}
		}
	}
	if n == 0 && v.in.Run != nil {
		for _, s := range v.in.Run.Steps {
			n += float64(s.Count)
		}
	}
	return n
}

// where is the place of a digest in a finding: its fingerprint, cut.
func (d digest) where() string {
	f := d.Query.Fingerprint
	if f == "" {
		f = d.q.SQL
	}
	return cut(f, 100)
}

// block is the only block of a SELECT that reads a table, or nil.
func (d digest) block() *block {
	if d.st == nil || d.st.verb != "select" || len(d.st.blocks) != 1 || len(d.st.blocks[0].refs) == 0 {
		return nil
	}
	return d.st.blocks[0]
}

// evidence formats a digest with its counts and times.
func (d digest) evidence() iikanji.Evidence {
	n := max(1, d.q.Count)
	return iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("%s× %s: %s rows examined, %s sent each, %.1f ms, %.2f s in all",
		people(d.q.Count), cut(d.q.SQL, 120), people(d.q.Examined/n), people(d.q.Sent/n), 1000*d.q.Seconds/n, d.q.Seconds)}
}

// growTables raises row counts that the run has outgrown: the rows that a scan of one
// table examined are a lower bound.
func (v *view) growTables() {
	for _, d := range v.digests {
		if d.st == nil || len(d.st.blocks) != 1 || len(d.st.blocks[0].refs) != 1 || d.q.Count == 0 {
			continue
		}
		if t := d.st.blocks[0].refs[0].table; t != nil {
			t.outgrown(int64(d.q.Examined / d.q.reads()))
		}
	}
}
