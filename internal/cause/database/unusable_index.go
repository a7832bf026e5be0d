package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// marksAs has the code, the claim and the remedy for each kind of predicate or
// order that no index can serve.
var marksAs = map[string]struct {
	code        iikanji.Code
	claim, cure string
}{
	"expression": {"DB105", "%s is inside an expression, so no index on it can be used: %s", "compare the bare column with a computed constant"},
	"types":      {"DB106", "%s is text and is compared with a number, so the server converts the text of every row: %s", "send the value as text, or store numbers in a numeric column"},
	"wildcard":   {"DB107", "%s is searched by a pattern that starts with a wildcard: %s", "search by a prefix, a fulltext index, or a table of words"},
	"spatial":    {"DB108", "geometry is built from %s for every row: %s", "add a POINT column with a spatial index, or filter by a box on the coordinates first"},
	"order":      {"DB122", "rows are sorted by an expression over %s: %s", "store the value in an indexed column"},
	"random":     {"DB122", "rows are sorted randomly%s: %s", "choose random keys and fetch these rows"},
}

var unusableIndex = cause.Declare(cause.PerDatabase, findUnusableIndex,
	cause.Cause{Code: "DB105", Title: "column hidden in an expression", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "`f(column) = …` or `column + 1 > …`: no index on the column can be used",
		Remedies: []cause.Way{cause.Patch}},
	cause.Cause{Code: "DB106", Title: "comparison of unlike types", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a text column is compared with a number, or two collations differ: the index is not used",
		Remedies: []cause.Way{cause.Patch}},
	cause.Cause{Code: "DB107", Title: "pattern with a leading wildcard", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "`LIKE '%x'` reads every row",
		Remedies: []cause.Way{cause.Patch}},
	cause.Cause{Code: "DB122", Title: "sort that no index can give", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "ORDER BY RAND() or an expression sorts every row",
		Remedies: []cause.Way{cause.Patch}})

// findUnusableIndex reports statements that no index can serve as they are written. They
// must read many rows for each row sent: such a predicate beside one with a
// good index is harmless.
func findUnusableIndex(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	seen := map[string]bool{}
	for _, m := range v.Advice.Marks {
		as := marksAs[m.Obstacle]
		each, sent := m.Query.Examined/max(1, m.Query.Count), m.Query.Sent/max(1, m.Query.Count)
		if key := string(as.code) + m.Query.SQL; each < 100 || each < 5*sent || seen[key] {
			continue
		} else {
			seen[key] = true
		}
		f := iikanji.Finding{Code: as.code, Where: cause.Cut(m.Query.SQL, 100), Claim: fmt.Sprintf(as.claim, m.Col, cause.Cut(m.Text, 100)),
			Gain: cause.Between(m.Query.Seconds, 0.3, 0.95*(1-(sent+1)/(each+1))),
			Evidence: []iikanji.Evidence{{Source: "digest " + m.Query.Digest,
				Text: fmt.Sprintf("%s× %s: %s rows read each, %s sent", cause.Number(m.Query.Count), cause.Cut(m.Query.SQL, 120), cause.Number(each), cause.Number(sent))}},
			Remedies: v.Patch(as.cure, map[string]string{"digest": m.Query.Digest, "table": m.Table, "column": m.Col}),
		}
		if v.Considerable(m.Query.Count * (each - sent)) {
			out = append(out, f)
		}
	}
	return out
}
