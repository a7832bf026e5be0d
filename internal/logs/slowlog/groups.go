package slowlog

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// A By is what the rows of a profile are about.
type By uint8

const (
	ByStatement By = iota // the digest
	ByTable
	ByUser
	ByHost
	ByDB
)

var byNames = []string{"statement", "table", "user", "host", "db"}

func (b By) String() string { return byNames[b] }

// ParseBy reads the name of a By. Names of pt-query-digest are accepted too.
func ParseBy(name string) (By, error) {
	switch low := strings.ToLower(name); low {
	case "", "fingerprint", "digest", "query", "item_id":
		return ByStatement, nil
	case "tables":
		return ByTable, nil
	default:
		for i, n := range byNames {
			if n == low {
				return By(i), nil
			}
		}
	}
	return 0, fmt.Errorf("%q is not one of %s", name, strings.Join(byNames, ", "))
}

// maxGroups limits the rows of tables, users, hosts and databases. Further ones
// share one row.
const maxGroups = 20_000

// Keys of rows for entries without a name, and of the shared row.
const (
	noName      = "(none)"
	otherGroups = "(others)"
)

// groups holds the counts by something else than the digest.
type groups struct {
	by     By
	byName map[string]*digest
	order  []*digest
}

// add counts an event in the rows of its group. A statement with several tables
// counts for each of them.
func (g *groups) add(ev *event, d *digest, user, host, db []byte) {
	switch g.by {
	case ByUser:
		g.of(user).add(ev)
	case ByHost:
		g.of(host).add(ev)
	case ByDB:
		g.of(db).add(ev)
	case ByTable:
		for _, t := range d.tables {
			g.of([]byte(t)).add(ev)
		}
		if len(d.tables) == 0 {
			g.of(nil).add(ev)
		}
	}
}

// of returns the group with a name.
func (g *groups) of(name []byte) *digest {
	if len(name) == 0 {
		name = []byte(noName)
	}
	if d := g.byName[string(name)]; d != nil {
		return d
	}
	if len(g.order) >= maxGroups {
		name = []byte(otherGroups)
		if d := g.byName[otherGroups]; d != nil {
			return d
		}
	}
	d := &digest{text: strings.ToValidUTF8(string(name), "\uFFFD")}
	if g.byName == nil {
		g.byName = map[string]*digest{}
	}
	g.byName[string(name)] = d
	g.order = append(g.order, d)
	return d
}

// rows returns the rows of the groups.
func (g *groups) rows(files []string) []iikanji.Row {
	var rows []iikanji.Row
	for _, d := range g.order {
		r := d.row(files, nil)
		r.Query.Fingerprint = ""
		rows = append(rows, r)
	}
	return rows
}
