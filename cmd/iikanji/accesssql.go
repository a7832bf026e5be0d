package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// placeholder is a part of a route that stands for any value: one that was learned, or one
// of a router's syntax, where a name behind a colon begins a part of the path.
var placeholder = regexp.MustCompile(`:(?:id|uuid|ulid|hex|token|date|email|name|file|any)\b|/:\w+|\{[^}]*\}|<[^>]*>|\*+\w*`)

// A sqlRoute is a route as a condition of a query.
type sqlRoute struct {
	key, method string
	pattern     string // a regular expression of the path
	weight      int    // routes of a small weight come first
}

// sqlRoutes returns the routes of a profile in the order in which they are tried: text
// before placeholders, and the placeholder of any value last. left is the number of rows
// that are no routes of paths.
func sqlRoutes(p *iikanji.Profile) (routes []sqlRoute, left int) {
	for i := range p.Rows {
		method, path, ok := strings.Cut(p.Rows[i].Key, " ")
		if !ok || !strings.HasPrefix(path, "/") {
			left++
			continue
		}
		r := sqlRoute{key: p.Rows[i].Key, method: method}
		at := 0
		var b strings.Builder
		for _, m := range placeholder.FindAllStringIndex(path, -1) {
			name, slash := strings.CutPrefix(path[m[0]:m[1]], "/")
			value := "[^/]+"
			switch r.weight += 2; {
			case name == ":any":
				r.weight++
			case strings.Contains(name, "*") || strings.Contains(name, "..."):
				value = ".*"
				r.weight += 100
			}
			b.WriteString(regexp.QuoteMeta(path[at:m[0]]))
			if slash {
				b.WriteByte('/')
			}
			b.WriteString(value)
			at = m[1]
		}
		r.pattern = "^" + b.String() + regexp.QuoteMeta(path[at:]) + "$"
		routes = append(routes, r)
	}
	slices.SortStableFunc(routes, func(a, b sqlRoute) int { return a.weight - b.weight })
	return routes, left
}

// sqlString is a string of ClickHouse.
func sqlString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// writeClickHouse writes the query for the table of a profile.
func writeClickHouse(w io.Writer, p *iikanji.Profile) error {
	routes, left := sqlRoutes(p)
	if len(routes) == 0 {
		return fmt.Errorf("the log has no routes for a query")
	}
	var b strings.Builder
	b.WriteString("-- access_log: method String, uri String (as requested), status UInt16, bytes UInt64, time Float64 (seconds)\n")
	if left > 0 {
		fmt.Fprintf(&b, "-- %d rows of the table are no routes of a path, and are not among these\n", left)
	}
	b.WriteString("SELECT count() AS count, sum(time) AS total, total / sum(total) OVER () AS share, avg(time) AS mean,\n" +
		"  quantileExact(0.5)(time) AS p50, quantileExact(0.99)(time) AS p99, max(time) AS max,\n" +
		"  countIf(status >= 500) AS `5xx`, sum(bytes) AS bytes, route\n" +
		"FROM (\n  SELECT time, status, bytes, splitByChar('?', uri)[1] AS path, multiIf(\n")
	for _, r := range routes {
		fmt.Fprintf(&b, "    method = %s AND match(path, %s), %s,\n", sqlString(r.method), sqlString(r.pattern), sqlString(r.key))
	}
	b.WriteString("    concat(method, ' (other)')) AS route\n  FROM access_log\n)\nGROUP BY route ORDER BY total DESC, route\n")
	_, err := io.WriteString(w, b.String())
	return err
}
