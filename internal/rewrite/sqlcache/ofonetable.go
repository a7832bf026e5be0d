package sqlcache

import "strings"

// A mapper makes the texts of its writes when it sends them, so that no plan lists them. A
// plan may list tables instead: a write whose text names one of them in the place of its
// only target changes rows of that table, and of those that foreign keys change with it.

// A Target is a table of the schema without a trigger.
type Target struct {
	Table string
	// Changes are the tables whose rows change with those of a write: the table itself,
	// and those of foreign keys that cascade.
	Changes []string
}

// writeOfOne is the write of one table by a text that the plan does not list; nil for a
// text of another form. Which rows it changes is not told.
func writeOfOne(c *compiled, f folded) *Statement {
	if !c.plan.SelectsOnlyRead || f.odd || f.unbound || c.plan.Dialect != MySQL || len(c.targets) == 0 {
		return nil // a function that the text calls could write to any table
	}
	words := strings.Split(f.text, " ")
	word := func(i int) string {
		if i < len(words) {
			return strings.ToUpper(words[i])
		}
		return ""
	}
	at := 1
	var after []string // what follows the table's name
	switch word(0) {
	case "INSERT", "REPLACE":
		if word(at) == "IGNORE" {
			at++
		}
		if word(at) == "INTO" {
			at++
		}
		after = []string{"(", "VALUES", "SET"}
	case "UPDATE":
		after = []string{"SET"}
	case "DELETE":
		if word(at) != "FROM" {
			return nil
		}
		at++
		after = []string{"WHERE", ""}
	default:
		return nil
	}
	if at >= len(words) || !oneOf(word(at+1), after) {
		return nil
	}
	changes, ok := c.targets[strings.ToLower(unquoted(words[at]))]
	if !ok {
		return nil
	}
	s := &Statement{Text: f.text}
	for _, t := range changes {
		s.Writes = append(s.Writes, Touch{Table: t})
	}
	return s
}

// unquoted is a name without its backquotes. A name with one inside has them still.
func unquoted(name string) string {
	if n := len(name); n > 2 && name[0] == '`' && name[n-1] == '`' && strings.Count(name, "`") == 2 {
		return name[1 : n-1]
	}
	return name
}
