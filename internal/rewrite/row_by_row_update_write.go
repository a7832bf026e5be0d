package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// The statement that changes several rows, written.

// updateHead opens the loop over the statements: each takes rows up to a key that it has already.
func (e *execution) updateHead(chunk, rest, args string) []string {
	u := e.update
	seen, n := freshNumbered(e.taken, "seen"), freshNumbered(e.taken, "n")
	var parts []string
	for _, k := range u.keys {
		parts = append(parts, fmt.Sprintf("%s[%s]", rest, sum(n, k.arg)))
	}
	kind := anyType(e.pass, e.loop.Pos())
	key := keyLiteral(fmt.Sprintf("[%d]%s", len(parts), kind), parts)
	of := kind
	if len(parts) > 1 {
		of = fmt.Sprintf("[%d]%s", len(parts), kind)
	}
	return []string{
		fmt.Sprintf("for %s := %s; len(%s) > 0; {", rest, args, rest),
		fmt.Sprintf("%s, %s := map[%s]bool{}, 0", seen, n, of),
		fmt.Sprintf("for ; %s < len(%s) && %s < %d*%d && !%s[%s]; %s += %d {", n, rest, n, u.params, e.rows, seen, key, n, u.params),
		fmt.Sprintf("%s[%s] = true", seen, key),
		"}",
		fmt.Sprintf("%s := %s[:%s]", chunk, rest, n),
		fmt.Sprintf("%s = %s[%s:]", rest, rest, n),
	}
}

// sum is the text of a sum with a constant.
func sum(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s+%d", name, n)
}

// updateQuery is the expression of the statement for the rows of a chunk, with the lines that make
// it, and notes the list of its arguments.
func (e *execution) updateQuery(chunk string) (string, []string) {
	u := e.update
	e.whole = true
	query, at := freshNumbered(e.taken, "query"), freshNumbered(e.taken, "at")
	e.values = freshNumbered(e.taken, "changes")
	tokens, _ := sqltext.Unknown.Tokens(u.sql)
	word := func(s string) string { return sqltext.Like(tokens, s) }
	arg := func(i int) string { return fmt.Sprintf("%s[%s]", chunk, sum(at, i)) }
	lines := []string{fmt.Sprintf("var %s strings.Builder", query), fmt.Sprintf("var %s []%s", e.values, anyType(e.pass, e.loop.Pos()))}
	add := func(args ...string) string {
		return fmt.Sprintf("%s = append(%s, %s)", e.values, e.values, strings.Join(args, ", "))
	}
	text := "" // that is not written yet
	write := func(code string) {
		lines = append(lines, fmt.Sprintf("%s.WriteString(%s%s)", query, goString(text), code))
		text = ""
	}
	var matches, keys []string
	for _, k := range u.keys {
		matches, keys = append(matches, k.column+" = ?"), append(keys, arg(k.arg))
	}
	match := strings.Join(matches, " "+word("AND")+" ")
	from := 0
	for _, v := range u.values {
		text += u.sql[from:v.start] + word("CASE")
		write("")
		values := slices.Clone(keys)
		for _, i := range v.args {
			values = append(values, arg(i))
		}
		// The first match of a CASE counts: that of the last row.
		lines = append(lines, fmt.Sprintf("for %s := len(%s) - %d; %s >= 0; %s -= %d {", at, chunk, u.params, at, at, u.params))
		text = fmt.Sprintf(" %s %s %s %s", word("WHEN"), match, word("THEN"), u.sql[v.start:v.end])
		write("")
		lines = append(lines, add(values...), "}")
		text, from = " "+word("END"), v.end
	}
	first, again := u.keys[0].column+" "+word("IN")+" (?", ", ?"
	if len(u.keys) > 1 {
		first, again = "("+match, " "+word("OR")+" "+match
	}
	text += u.sql[from:u.where] + " " + first
	write(fmt.Sprintf("+strings.Repeat(%s, len(%s)/%d-1)+\")\"", goString(again), chunk, u.params))
	lines = append(lines, fmt.Sprintf("for %s := 0; %s < len(%s); %s += %d {", at, at, chunk, at, u.params), add(keys...), "}")
	for _, k := range u.stay {
		text += " " + word("AND") + " " + u.sql[k.start:k.end]
		for _, i := range k.args {
			lines = append(lines, add(fmt.Sprintf("%s[%d]", chunk, i)))
		}
	}
	if text != "" {
		write("")
	}
	return query + ".String()", lines
}
