package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A statement is one that a change runs on a database. apply.sh and undo.sh
// take each by itself, as a server may have done the first and refuse the
// second.
type statement struct {
	name string // of its files, without the end: "0003", or "0003-2" of several
	do   string
	undo []string // what takes it back, in this order; nil where nothing has to
}

// statements are those of a change, in the order in which they are done. What
// takes a place back goes with the first statement on it.
func statements(c *iikanji.Change) []statement {
	var all []statement
	first := map[string]int{}
	for _, op := range c.Do {
		if op.Verb != iikanji.SQL {
			continue
		}
		if _, known := first[op.Place]; !known {
			first[op.Place] = len(all)
		}
		all = append(all, statement{name: fmt.Sprintf("%04d-%d", c.ID, len(all)+1), do: op.Body})
	}
	if len(all) == 1 {
		all[0].name = fmt.Sprintf("%04d", c.ID)
	}
	for _, op := range c.Undo {
		if i, known := first[op.Place]; op.Verb == iikanji.SQL && known {
			all[i].undo = append(all[i].undo, op.Body)
		}
	}
	return all
}

// A text is a file of a statement: the end of its name, and what is in it.
type text struct{ end, text string }

// texts are the files of a statement. A server that cannot do one while others
// write gets it without that, as on the stack that it was tried on.
func (s statement) texts() []text {
	var all []text
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
