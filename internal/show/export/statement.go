package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A statement is one SQL statement of a change. apply.sh and undo.sh run each one
// separately, because a server may execute the first and refuse the second.
type statement struct {
	name string // of its files, without suffix: "0003", or "0003-2" of several
	do   string
	undo []string // the statements that undo it, in order; nil if there are none
	// restore is the query whose result is the statement that restores the value
	// that a variable has on the other machine; "" for other statements.
	restore string
}

// restoreQuery returns the query for a global variable: a number needs no quotes.
func restoreQuery(name string) string {
	v := "@@GLOBAL." + name
	return "SELECT CONCAT('SET GLOBAL " + name + " = ', IF(" + v + " REGEXP '^-?[0-9.]+$', " + v + ", QUOTE(" + v + ")), ';')"
}

// statements lists the statements of a change on database servers in order. SQLite files
// have no server to send a statement to: their part of a change is planned again there,
// from acts. The undo of a place belongs
// to the first statement on that place.
func statements(c *iikanji.Change) []statement {
	var all []statement
	first := map[string]int{}
	for _, op := range c.Do {
		if op.Verb != iikanji.SQL || change.OnFiles(op) {
			continue
		}
		if _, known := first[op.Location()]; !known {
			first[op.Location()] = len(all)
		}
		st := statement{name: fmt.Sprintf("%04d-%d", c.ID, len(all)+1), do: op.Body}
		if _, variable, ok := strings.Cut(op.Place, "/@@"); ok {
			st.restore = restoreQuery(variable)
		}
		all = append(all, st)
	}
	if len(all) == 1 {
		all[0].name = fmt.Sprintf("%04d", c.ID)
	}
	for _, op := range c.Undo {
		if i, known := first[op.Location()]; op.Verb == iikanji.SQL && known {
			all[i].undo = append(all[i].undo, op.Body)
		}
	}
	return all
}

// A text is a file of a statement: the suffix of its name, and its content.
type text struct{ end, text string }

// texts returns the files of a statement. For an online ALTER TABLE there is a
// second file without the online options, for servers that refuse them.
func (s statement) texts() []text {
	var all []text
	if s.restore != "" {
		all = append(all, text{".restore.sql", s.restore + ";\n"})
	}
	for _, side := range []struct {
		end    string
		bodies []string
	}{{"", []string{s.do}}, {".undo", s.undo}} {
		if len(side.bodies) == 0 {
			continue
		}
		all = append(all, text{side.end + ".sql", strings.Join(side.bodies, ";\n") + ";\n"})
		plain := slices.Clone(side.bodies)
		for i := range plain {
			plain[i] = strings.TrimSuffix(plain[i], ", "+strings.Join(change.Online, ", "))
		}
		if !slices.Equal(plain, side.bodies) {
			all = append(all, text{side.end + ".offline.sql", strings.Join(plain, ";\n") + ";\n"})
		}
	}
	return all
}
