package difference

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// tables compares the tables of the databases.
func (c *comparer) tables() {
	for i := range c.now.Services {
		s := &c.now.Services[i]
		if s.Tables == nil {
			continue
		}
		base := then(c.in.Base, c.base, s.Name)
		if base == nil {
			continue
		}
		for _, table := range keysOf(base.Tables, s.Tables) {
			if was, is := base.Tables[table], s.Tables[table]; was != is {
				c.table(s, table, was, is)
			}
		}
	}
}

// then is a service with its tables in an earlier state: on the same host, else on the one from
// which it has moved since; nil if it had none.
func then(s *state.State, here *state.Host, name string) *state.Service {
	if svc, ok := here.Service(name); ok && svc.Tables != nil {
		return svc
	}
	if s == nil {
		return nil
	}
	_, svc := s.Server(name)
	return svc
}

// table compares one table, or one statement of SQLite files.
func (c *comparer) table(s *state.Service, table, was, is string) {
	e := Edit{Kind: Table, Service: s.Name, Place: table}
	_, name, server := strings.Cut(table, ".")
	old, now := elements(was), elements(is)
	switch {
	case !server || s.InFiles():
		c.statement(&e, s, table, was, is)
	case was == "":
		e.Names = []string{"new table"}
	case is == "":
		e.Names = []string{"table dropped"}
	default:
		var added, gone []element
		for _, key := range keysOf(old, now) {
			a, had := old[key]
			b, has := now[key]
			switch {
			case had && has && a.text == b.text:
			case !had:
				e.Names, added = append(e.Names, key+" "+b.columns()), append(added, b)
			case !has:
				e.Names, gone = append(e.Names, "− "+key), append(gone, a)
			default:
				e.Names, added = append(e.Names, key+" changed"), append(added, b)
			}
		}
		for i := range e.Names {
			e.Names[i] = strings.TrimSpace(e.Names[i])
		}
		c.undone(&e, s, table, name, added, gone)
	}
	fingerprint := iikanji.Fingerprint("absent")
	if is != "" {
		fingerprint = iikanji.Fingerprint(state.Sum([]byte(is)))
	}
	c.add(e, s.Name+"/"+table, fingerprint)
}

// statement compares a statement of SQLite files.
func (c *comparer) statement(e *Edit, s *state.Service, key, was, is string) {
	switch {
	case was == "":
		e.Names = []string{key + " (new)"}
	case is == "":
		e.Names = []string{"− " + key}
	default:
		e.Names = []string{key + " changed"}
	}
	if s.Originals == nil || c.survived(s.Name, key, func(t string) bool { return t == is }) {
		return
	}
	if s.Originals[key] != is {
		e.Warning, e.Why = InitializeIt, "not in the files that it copies"
	}
}

// An element is a column, an index or a rule of a table.
type element struct{ kind, name, text string }

var elementForm = regexp.MustCompile("^(?:(PRIMARY KEY)|((?:UNIQUE |FULLTEXT |SPATIAL |VECTOR )?KEY) `((?:[^`]|``)+)`|CONSTRAINT `((?:[^`]|``)+)`|`((?:[^`]|``)+)` )")

// elements are the elements of the output of SHOW CREATE TABLE, by kind and name.
func elements(definition string) map[string]element {
	all := map[string]element{}
	list := strings.Split(definition, "\n")
	for _, line := range list[min(1, len(list)):] {
		if strings.HasPrefix(line, ")") {
			all["options"] = element{kind: "options", text: line}
			break
		}
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		m := elementForm.FindStringSubmatch(line)
		var e element
		switch {
		case m == nil:
			continue
		case m[1] != "":
			e = element{"primary key", "", line}
		case m[3] != "":
			e = element{"index", m[3], line}
		case m[4] != "":
			e = element{"constraint", m[4], line}
		default:
			e = element{"column", m[5], line}
		}
		all[strings.TrimSpace(e.kind+" "+e.name)] = e
	}
	return all
}

// columns are the columns of an index as text.
func (e element) columns() string {
	if e.kind != "index" && e.kind != "primary key" {
		return ""
	}
	if i := strings.IndexByte(e.text, '('); i >= 0 {
		return strings.ReplaceAll(e.text[i:], "`", "")
	}
	return ""
}

// survived reports whether a table was already as it is when the latest run began, which
// has run initialize since.
func (c *comparer) survived(service, table string, same func(definition string) bool) bool {
	if !c.ran {
		return false
	}
	last := then(c.in.Last, c.last, service)
	return last != nil && same(last.Tables[table])
}

// undone warns of indexes and columns that initialize undoes: a file that it loads makes
// the table without them.
func (c *comparer) undone(e *Edit, s *state.Service, place, table string, added, gone []element) {
	here := func(definition string) bool {
		then := elements(definition)
		for _, el := range added {
			if then[strings.TrimSpace(el.kind+" "+el.name)].text != el.text {
				return false
			}
		}
		for _, el := range gone {
			if _, has := then[strings.TrimSpace(el.kind+" "+el.name)]; has {
				return false
			}
		}
		return definition != ""
	}
	if len(added)+len(gone) == 0 || c.survived(s.Name, place, here) {
		return
	}
	files, made := c.schema(s, table)
	if len(files) == 0 || c.outlived(s, place) {
		return
	}
	for _, el := range added {
		if (el.kind == "index" || el.kind == "column") && !made.has(el) {
			e.Warning, e.Why = InitializeIt, "not in "+strings.Join(files, ", ")
			return
		}
	}
	for _, el := range gone {
		if (el.kind == "index" || el.kind == "column") && made.has(el) {
			e.Warning, e.Why = InitializeIt, files[0]+" makes it again"
			return
		}
	}
}

// outlived reports whether tables of a schema are older than a run that was made since the
// first state: its initialize did not make them anew. An edit makes a table new, so that
// others tell it, or the table itself at two earlier runs.
func (c *comparer) outlived(s *state.Service, place string) bool {
	if !c.ran {
		return false
	}
	schema, _, _ := strings.Cut(place, ".")
	for name, at := range s.Created {
		if strings.HasPrefix(name, schema+".") && name != place && !at.IsZero() && at.Unix() > 0 && at.Before(c.in.Last.At.Add(-time.Second)) {
			return true
		}
	}
	base, last := then(c.in.Base, c.base, s.Name), then(c.in.Last, c.last, s.Name)
	if base == nil || last == nil || !c.in.Base.At.Before(c.in.Last.At) {
		return false
	}
	was, is := base.Created[place], last.Created[place]
	return was.Unix() > 0 && was.Equal(is)
}

// A madeTable is what the SQL files of a site make of a table.
type madeTable struct {
	columns map[string]bool
	indexes map[string]bool // names
	lists   map[string]bool // columns of indexes without a name
}

func (m madeTable) has(el element) bool {
	name := strings.ToLower(el.name)
	if el.kind == "column" {
		return m.columns[name]
	}
	return m.indexes[name] || m.lists[strings.ToLower(strings.ReplaceAll(el.columns(), " ", ""))]
}

// schema reads the SQL files that initialize loads, on whichever host they are, as far as they
// make a table; files are the names of those that create it.
func (c *comparer) schema(s *state.Service, table string) (files []string, made madeTable) {
	made = madeTable{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for i := range c.in.Now.Hosts {
		h := &c.in.Now.Hosts[i]
		for _, f := range h.Files {
			if path.Ext(f.Path) != ".sql" || !c.loads(h, s, f.Path) {
				continue
			}
			text := c.text(f)
			if text == nil || !strings.Contains(strings.ToLower(string(text)), strings.ToLower(table)) {
				continue
			}
			for _, st := range sqltext.MySQL.Statements(string(text)) {
				def, ok := sqlschema.Of(st)
				if !ok || !strings.EqualFold(def.Table, table) {
					continue
				}
				if def.Verb == sqlschema.CreateTable && !slices.Contains(files, path.Base(f.Path)) {
					files = append(files, path.Base(f.Path))
				}
				made.read(def)
			}
		}
	}
	return files, made
}

func (m madeTable) read(st sqlschema.Statement) {
	if st.Verb == sqlschema.DropIndex {
		delete(m.indexes, strings.ToLower(st.Index))
		return
	}
	def, err := st.Read()
	if err != nil {
		return
	}
	if st.Verb == sqlschema.CreateIndex {
		m.indexes[strings.ToLower(st.Index)] = true
	}
	for _, col := range def.Columns {
		m.columns[strings.ToLower(col.Name)] = true
	}
	for _, k := range def.Keys {
		if k.Name != "" {
			m.indexes[strings.ToLower(k.Name)] = true
			continue
		}
		var parts []string
		for _, p := range k.Parts {
			parts = append(parts, p.Column)
		}
		if len(parts) > 0 {
			m.indexes[strings.ToLower(parts[0])] = true // the server names it after its first column
		}
		m.lists["("+strings.ToLower(strings.Join(parts, ","))+")"] = true
	}
}

// loads reports whether initialize may load a file of a host: it is in a folder that the site
// names, or where none is named in the source of an app of the server's host, or of one that
// runs on its own.
func (c *comparer) loads(h *state.Host, s *state.Service, name string) bool {
	named := false
	for i := range c.in.Now.Hosts {
		on := &c.in.Now.Hosts[i]
		svc, ok := on.Service(s.Name)
		if !ok || len(svc.Loads) == 0 {
			continue
		}
		named = true
		if on == h && slices.ContainsFunc(svc.Loads, func(dir string) bool { return below(dir, name) }) {
			return true
		}
	}
	if named {
		return false
	}
	app := sourceIn(h, name)
	return app != nil && (h == c.now || !app.Started.IsZero())
}

// below reports whether a path is below a folder.
func below(dir, name string) bool { return strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/") }
