package window

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// gone replaces a value that was removed.
const gone = "(redacted)"

// secretName matches names of settings whose values are secrets.
var secretName = regexp.MustCompile(`(?i)passw|passphrase|\bpwd\b|secret|token|api_?key|access_?key|private_?key|credential|authorization|\bauth\b|cookie|salt|dsn|session_?(id|key)`)

// secretValue matches values that are secrets wherever they stand: passwords in
// URLs and DSNs, headers with credentials, long random texts.
var secretValue = regexp.MustCompile(`(?i)://[^/\s:@]+:[^/\s@]+@|[\w.-]+:[^@\s/]+@(tcp|unix)\(|\b(bearer|basic)\s+\S+|-----BEGIN|\beyJ[\w-]{8,}\.|[0-9a-f]{32,}|[A-Za-z0-9+/_-]{40,}={0,2}`)

// Profile removes the texts with literals from a profile: statements, lines of
// logs, accounts and addresses of clients. Fingerprints, route templates, counts
// and sketches stay.
func Profile(p *iikanji.Profile) {
	p.Slowest = nil
	p.Intake.BadLines = nil
	for i, f := range p.Intake.Files {
		p.Intake.Files[i] = filepath.Base(f)
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		r.Example = sighting(r.Example)
		if p.Source == iikanji.Access {
			r.Key = path(r.Key)
		}
		if q := r.Query; q != nil {
			q.Typical = sighting(q.Typical)
			q.Users, q.Hosts = nil, nil
		}
		if l := r.Log; l != nil {
			l.Message = secretValue.ReplaceAllString(l.Message, gone)
		}
	}
	for i := range p.Transactions {
		p.Transactions[i].Example = sighting(p.Transactions[i].Example)
	}
}

// sighting keeps the duration of an example only.
func sighting(s iikanji.Sighting) iikanji.Sighting { return iikanji.Sighting{Took: s.Took} }

// path removes the query of a route.
func path(key string) string {
	key, _, _ = strings.Cut(key, "?")
	return secretValue.ReplaceAllString(key, gone)
}

// Facts removes secrets and literals from facts. Facts of topics that may hold
// answers or values of rows are left out; their topics are returned.
func Facts(known []iikanji.Fact) (kept []iikanji.Fact, left []string, err error) {
	dropped := map[string]bool{}
	for _, f := range known {
		edit, ok := topics[f.Topic]
		if !ok {
			if !dropped[f.Topic] {
				left = append(left, f.Topic)
			}
			dropped[f.Topic] = true
			continue
		}
		f, err := f.Encoded()
		if err == nil && edit != nil {
			err = edit(&f)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("redacting the fact %s: %w", f.Topic, err)
		}
		kept = append(kept, f)
	}
	return kept, left, nil
}

// topics are the topics that are kept, each with its edit; nil for facts without
// values of the site's data.
var topics = map[string]func(*iikanji.Fact) error{
	string(fact.TopicTable): nil, string(fact.TopicSize): nil, string(fact.TopicDialect): nil, string(fact.TopicStatus): nil, string(fact.TopicLimit): nil, string(fact.TopicProcess): nil,
	string(fact.TopicSysctl): nil, string(fact.TopicListen): nil, string(fact.TopicConnection): nil, string(fact.TopicVolume): nil, string(fact.TopicNginxVersion): nil,
	string(fact.TopicInnoDB): nil, string(fact.TopicReady): nil, string(fact.TopicCacheCounter): nil, string(fact.TopicCacheSetting): nil,
	string(fact.TopicAgent):      agent,
	string(fact.TopicHTTPStatus): func(f *iikanji.Fact) error { f.Key = path(f.Key); return nil },
	string(fact.TopicVariable):   variable,
	string(fact.TopicNginx):      directives,
	string(fact.TopicPlan):       plan,
	string(fact.TopicLockWait):   lockWait,
	string(fact.TopicDeadlock):   deadlock,
	string(fact.TopicUnit):       unit,
	string(fact.TopicNginxFile):  func(f *iikanji.Fact) error { f.Value = Config(f.Value); return nil },
}

// robotName is the word by which a robot names itself.
var robotName = regexp.MustCompile(`(?i)[a-z]*(?:bot|crawler|spider|mediapartners|feedfetcher|feedseeker|slurp|archiver|scraper)\b`)

// agent keeps of a User-Agent what makes it a robot: the rest may describe a person's
// device.
func agent(f *iikanji.Fact) error {
	if f.Key != "" {
		if f.Key = robotName.FindString(f.Key); f.Key == "" {
			f.Key = gone
		}
	}
	return nil
}

func variable(f *iikanji.Fact) error {
	if f.Value != "" && (secretName.MatchString(f.Key) && !yesOrNo[strings.ToLower(f.Value)] && len(f.Value) > 6 || strings.HasPrefix(f.Key, "init_")) {
		f.Value = gone
	}
	return nil
}

// yesOrNo are values of switches, which are not secrets.
var yesOrNo = map[string]bool{"on": true, "off": true, "yes": true, "no": true, "0": true, "1": true}

func directives(f *iikanji.Fact) error {
	return inJSON(f, func(c *nginx.Config) { c.Walk(c.Root(), nil, func(p nginx.Place) { redactDirective(p.Directive) }) })
}

func redactDirective(d *nginx.Directive) {
	args := d.Args()
	from := len(args)
	switch {
	case secretName.MatchString(d.Name()):
		from = 0
	case len(args) > 1 && secretName.MatchString(args[0]):
		from = 1
	}
	for i, arg := range args {
		if i >= from && !variableOnly.MatchString(arg) && !yesOrNo[strings.ToLower(arg)] || secretValue.MatchString(arg) {
			args[i] = gone
		}
	}
	d.SetArgs(args...)
}

// variableOnly matches an argument that is one nginx variable.
var variableOnly = regexp.MustCompile(`^\$\{?[a-z0-9_]+\}?$`)

func plan(f *iikanji.Fact) error {
	return inJSON(f, func(p *catalog.QueryPlan) {
		p.SQL = Shape(p.SQL)
		p.Notes = nil
	})
}

func lockWait(f *iikanji.Fact) error {
	f.Key = Shape(f.Key)
	return inJSON(f, func(w *fact.LockWait) { w.Waiting, w.Blocking = Shape(w.Waiting), Shape(w.Blocking) })
}

func deadlock(f *iikanji.Fact) error {
	return inJSON(f, func(d *fact.Deadlock) {
		for i := range d.Parts {
			d.Parts[i].SQL = Shape(d.Parts[i].SQL)
		}
	})
}

func unit(f *iikanji.Fact) error {
	return inJSON(f, func(u *fact.Unit) {
		for i := range u.Settings {
			if s := &u.Settings[i]; s.Key == "Environment" || secretName.MatchString(s.Value) || secretValue.MatchString(s.Value) {
				s.Value = gone
			}
		}
	})
}

// inJSON edits the value of a fact.
func inJSON[T any](f *iikanji.Fact, edit func(*T)) error {
	var v T
	if err := json.Unmarshal([]byte(f.Value), &v); err != nil {
		return err
	}
	edit(&v)
	b, err := json.Marshal(&v)
	f.Value = string(b)
	return err
}

// Shape is the fingerprint of a statement, which has no literals.
func Shape(sql string) string {
	var fp slowlog.Fingerprinter
	return strings.ToValidUTF8(string(fp.Fingerprint([]byte(sql))), "\uFFFD")
}

// Config removes the values of secrets from a configuration file, line by line, and
// all comments, which may quote old values.
func Config(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSpace(line)
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		switch {
		case body == "" || body[0] == '#' || body[0] == ';':
			continue
		case secretName.MatchString(body):
			if name := strings.FieldsFunc(body, func(r rune) bool { return r == '=' || r == ' ' || r == '\t' }); len(name) > 0 {
				body = name[0] + " " + gone
			}
		default:
			body = secretValue.ReplaceAllString(body, gone)
		}
		b.WriteString(indent + body + "\n")
	}
	return b.String()
}
