package ddl

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
)

// A splice replaces a range of bytes in a file.
type splice struct {
	from, to int
	with     string
}

// spliced applies splices, which must not overlap, to a text. All other bytes
// stay.
func spliced(text string, all []splice) string {
	slices.SortStableFunc(all, func(a, b splice) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, s := range all {
		b.WriteString(text[at:s.from])
		b.WriteString(s.with)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// edits returns the possible edits of a file for a change of indexes, best
// first. defs are the statements in the file that define the table. No edit is
// verified here: the caller executes each edited file on a server.
func edits(sql string, defs []sqlschema.Statement, a alter) []string {
	var ways []string
	if all, ok := inPlace(sql, defs, a); ok {
		ways = append(ways, spliced(sql, all))
	}
	return append(ways, spliced(sql, []splice{behind(sql, defs, a)}))
}

// inPlace drops an index in the statement that makes it, and adds a new one
// after the last element of CREATE TABLE.
func inPlace(sql string, defs []sqlschema.Statement, a alter) ([]splice, bool) {
	create := defs[0]
	elements, ok := create.Elements()
	if !ok {
		return nil, false
	}
	if a.drop == "" {
		return insertion(sql, create, elements, a.elements()), true
	}
	if i := best(elements, 0, a.drop); i >= 0 {
		switch {
		case a.add.name == "":
			return removal(sql, elements, i)
		case i == len(elements)-1 && len(a.keep) == 0:
			return []splice{{elements[i].Start, elements[i].End, a.add.element()}}, true
		case i == len(elements)-1:
			return nil, false
		}
		gone, ok := removal(sql, elements, i)
		return append(gone, insertion(sql, create, elements, a.elements())...), ok
	}
	gone, ok := elsewhere(sql, defs[1:], a.drop)
	return append(gone, insertion(sql, create, elements, a.elements())...), ok
}

// best returns the position of the element that most surely makes an index, or
// -1. skip is the number of tokens before the element itself.
func best(all []sqlschema.Item, skip int, index string) int {
	found, surest := -1, 0
	for i, it := range all {
		if n := it.Makes(index, skip); n > surest {
			found, surest = i, n
		}
	}
	return found
}

// elsewhere drops an index that a statement after CREATE TABLE makes.
func elsewhere(sql string, defs []sqlschema.Statement, index string) ([]splice, bool) {
	for _, d := range slices.Backward(defs) {
		switch d.Verb {
		case sqlschema.CreateIndex:
			if strings.EqualFold(d.Index, index) {
				return []splice{tidy(sql, d.Start, d.Next)}, true
			}
		case sqlschema.AlterTable:
			actions := d.Actions()
			i := best(actions, 1, index) // after ADD
			if i < 0 || !actions[i].Tokens[0].Is("ADD") {
				continue
			}
			if len(actions) == 1 {
				return []splice{tidy(sql, d.Start, d.Next)}, true
			}
			return removal(sql, actions, i)
		}
	}
	return nil, false
}

// removal removes one item from a list of several, with its comma.
func removal(sql string, all []sqlschema.Item, i int) ([]splice, bool) {
	it := all[i]
	if it.Comma >= 0 {
		gone := tidy(sql, it.Start, it.Comma+1)
		if gone.from == it.Start { // the item has no line of its own
			gone.to += len(sql[gone.to:]) - len(strings.TrimLeft(sql[gone.to:], " \t"))
		}
		return []splice{gone}, true
	}
	if i == 0 {
		return nil, false
	}
	comma := all[i-1].Comma
	if strings.TrimSpace(sql[comma+1:it.Start]) == "" {
		return []splice{{comma, it.End, ""}}, true
	}
	return []splice{{comma, comma + 1, ""}, tidy(sql, it.Start, it.End)}, true // a comment separates the item and the comma
}

// tidy removes a range, and the lines that become empty by it.
func tidy(sql string, from, to int) splice {
	line := strings.LastIndexByte(sql[:from], '\n') + 1
	end := to + len(firstLine(sql[to:]))
	if strings.TrimSpace(sql[line:from]) != "" || strings.TrimSpace(sql[to:end]) != "" {
		return splice{from, to, ""}
	}
	return splice{line, min(end+1, len(sql)), ""}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// insertion adds indexes after the last element, on lines of their own if the
// elements are on several lines. A comment after the last element stays with it.
func insertion(sql string, create sqlschema.Statement, elements []sqlschema.Item, indexes []string) []splice {
	if len(indexes) == 0 {
		return nil
	}
	last := elements[len(elements)-1]
	line := strings.LastIndexByte(sql[:last.Start], '\n') + 1
	if line <= create.Start {
		return []splice{{last.End, last.End, ", " + strings.Join(indexes, ", ")}}
	}
	rest := strings.TrimLeft(sql[line:], " \t")
	before := lineEnd(sql[:line]) + sql[line:len(sql)-len(rest)]
	at := last.End + len(strings.TrimRight(sql[last.End:closing(create, last.End)], " \t\r\n"))
	return []splice{{last.End, last.End, ","}, {at, at, before + strings.Join(indexes, ","+before)}}
}

// closing is the offset of the first token of a statement behind an offset.
func closing(s sqlschema.Statement, behind int) int {
	for _, t := range s.Tokens {
		if t.Start >= behind {
			return t.Start
		}
	}
	return s.End
}

// behind makes the change with a statement of its own, after the last one that
// defines the table.
func behind(sql string, defs []sqlschema.Statement, a alter) splice {
	d := defs[len(defs)-1]
	stmt := "ALTER TABLE " + sql[d.From:d.To] + " " + strings.Join(a.clauses(), ", ")
	newline := lineEnd(sql[:d.From])
	if d.Delimiter == "" { // the file ends without a delimiter
		return splice{d.End, d.End, ";" + newline + stmt + ";"}
	}
	return splice{d.Next, d.Next, newline + stmt + d.Delimiter}
}

// lineEnd returns the end of the last line of a text: LF or CR LF.
func lineEnd(sql string) string {
	if n := strings.LastIndexByte(sql, '\n'); n > 0 && sql[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
