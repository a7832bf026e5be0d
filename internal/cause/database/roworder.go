package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// ordered adds to a remedy that adds or drops indexes what the run shows of the order of
// rows: the proof that the change keeps it, or the statements whose rows may come in another
// order.
func ordered(v *cause.View, r iikanji.Remedy, t catalog.Table, changed ...catalog.Index) iikanji.Remedy {
	free, ties := unsorted(v, t, func(st *index.Statement, t *index.Table) bool {
		return slices.ContainsFunc(changed, func(ix catalog.Index) bool { return st.MayReorder(t, ix) })
	})
	if r.Unsorted = append(free, ties...); len(free) == 0 {
		r.Proof = append(r.Proof, iikanji.RowsSorted)
	}
	return r
}

// unsorted lists the statements of the run that leave the order of rows to the server, and
// whose rows of a table a change may reorder, each with its place: free without an ORDER BY,
// ties with one under which rows may be equal, so that their LIMIT may choose others. A
// statement that cannot be parsed is free if it contains the table's name.
func unsorted(v *cause.View, of catalog.Table, reorders func(*index.Statement, *index.Table) bool) (free, ties []string) {
	for _, d := range v.Digests {
		several := d.Totals.Sent > d.Totals.Count
		switch {
		case d.Parsed == nil:
			if several && strings.Contains(strings.ToLower(d.Totals.SQL), strings.ToLower(of.Name)) {
				free = append(free, orderText(v, d, "without an ORDER BY"))
			}
			continue
		case d.Parsed.Verb != "select", !several && !d.Parsed.Limits(), d.Parsed.Sorted():
			continue
		}
		for _, t := range v.Schema.Tables {
			switch {
			case !strings.EqualFold(t.Name, of.Name) || !strings.EqualFold(t.Schema, of.Schema) || !reorders(d.Parsed, t):
			case d.Parsed.Ordered():
				ties = append(ties, orderText(v, d, "a LIMIT behind an ORDER BY under which rows may be equal"))
			default:
				free = append(free, orderText(v, d, "without an ORDER BY"))
			}
		}
	}
	return free, ties
}

// orderText names a statement whose rows the server orders, with its places in the source or
// the route that sends it.
func orderText(v *cause.View, d cause.Digest, how string) string {
	var places []string
	for _, s := range v.Sends() {
		if s.Digest == d.Query.Digest {
			places = append(places, strings.TrimSpace(s.Place+" "+s.Func))
		}
	}
	if len(places) == 0 && d.Route != nil {
		places = append(places, d.Route.Route)
	}
	text := cause.Cut(cmp.Or(d.Query.Fingerprint, d.Totals.SQL), 120)
	if len(places) > 0 {
		text = strings.Join(places, ", ") + ": " + text
	}
	return fmt.Sprintf("%s (%s rows each, %s)", text, cause.Number(d.Totals.Sent/max(1, d.Totals.Count)), how)
}
