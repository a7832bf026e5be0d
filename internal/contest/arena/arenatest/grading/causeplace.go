package grading

import (
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A causePlace is where a cause is, as an answer or a finding words it. One of
// these forms:
//
//	GET /a/:id              a route
//	/assets                 all routes below a path
//	GET /a/:id: select …    a statement, with the route that sends it
//	select … from t         a statement; … in an answer stands for any text
//	s.t (a, b DESC)         an index
//	t.c                     a column (answers only: a finding's remedy names it)
//	a.go:12 search          a function in a file of source; the line may differ
//	nginx                   a service, a variable or an address
type causePlace struct {
	method, path string // of a route; a path alone is all that is below it
	statement    string
	table        string
	columns      []string // of an index on table
	column       string   // of table
	name         string
}

var (
	routeForm     = regexp.MustCompile(`^(?:([A-Z]+) )?(/[^ ]*?)(?:: (.*))?$`)
	statementForm = regexp.MustCompile(`(?i)^(select|insert|update|delete|replace|with)\b`)
	indexForm     = regexp.MustCompile(`^(?:\w+\.)?(\w+) ?\(([^()]+)\)$`)
	sourceForm    = regexp.MustCompile(`^(\S+\.\w+)(?::\d+)? (\S+)$`)
	columnForm    = regexp.MustCompile(`^(\w+)\.(\w+)$`)
	// serviceEnd names the service of a finding, where a target has several of a role.
	serviceEnd = regexp.MustCompile(` at [\w.-]+$`)
)

func readPlace(text string) (p causePlace) {
	text = strings.ReplaceAll(text, "`", "")
	if m := routeForm.FindStringSubmatch(text); m != nil {
		p.method, p.path, p.statement = m[1], m[2], m[3]
		return p
	}
	if statementForm.MatchString(text) {
		p.statement = text
	} else if m := indexForm.FindStringSubmatch(text); m != nil {
		p.table = m[1]
		for c := range strings.SplitSeq(m[2], ",") {
			p.columns = append(p.columns, strings.TrimSpace(c))
		}
	} else if m := sourceForm.FindStringSubmatch(text); m != nil {
		p.name = m[1] + " " + m[2]
	} else if m := columnForm.FindStringSubmatch(text); m != nil {
		p.table, p.column = m[1], m[2]
	} else {
		p.name = text
	}
	return p
}

// holds reports whether a finding is about the place of an answer. Nothing that
// both of them name may differ.
func (p causePlace) holds(f iikanji.Finding) bool {
	return p.is(f, readPlace(f.Where)) || p.is(f, readPlace(serviceEnd.ReplaceAllString(f.Where, "")))
}

func (p causePlace) is(f iikanji.Finding, at causePlace) bool {
	switch {
	case p.column != "":
		return at.reads(p.table) && slices.ContainsFunc(f.Remedies, func(r iikanji.Remedy) bool { return r.Args["column"] == p.column })
	case p.table != "":
		return at.table == p.table && begins(at.columns, p.columns)
	case p.statement != "":
		return alikeStatement(p.statement, at.statement) && (p.path == "" || at.path == "" || p.covers(at))
	case p.path != "":
		return p.covers(at)
	}
	// nginx is the only one of its kind, its upstreams have addresses.
	return at.name != "" && (p.name == at.name || p.name == "nginx")
}

// covers reports whether a route is that of another place: identifiers may have
// other names there, and a path without a method covers all that is below it.
func (p causePlace) covers(at causePlace) bool {
	want, got := strings.Split(strings.TrimSuffix(p.path, "/"), "/"), strings.Split(strings.TrimSuffix(at.path, "/"), "/")
	if at.path == "" || len(got) < len(want) || p.method != "" && (p.method != at.method || len(got) != len(want)) {
		return false
	}
	for i, w := range want {
		if w != got[i] && !(strings.HasPrefix(w, ":") && strings.HasPrefix(got[i], ":")) {
			return false
		}
	}
	return true
}

// reads reports whether a place is a statement of a table.
func (p causePlace) reads(table string) bool {
	return regexp.MustCompile(`(?i)\b(from|join|into|update) (\w+\.)?` + regexp.QuoteMeta(table) + `\b`).MatchString(p.statement)
}

// alikeStatement holds a digest's text against that of an answer.
func alikeStatement(want, got string) bool {
	parts := strings.Split(want, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?is)^` + strings.Join(parts, ".*") + `$`).MatchString(got)
}

// begins reports whether an index has the wanted columns first, in their order. A
// longer one does what they do; without a direction, either will do.
func begins(columns, want []string) bool {
	if len(columns) < len(want) {
		return false
	}
	for i, w := range want {
		got := columns[i]
		if column, _, directed := strings.Cut(got, " "); directed && !strings.Contains(w, " ") {
			got = column
		}
		if !strings.EqualFold(got, w) {
			return false
		}
	}
	return true
}
