package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// db119 reports rows that arrive together and are inserted one by one: several
// single-row INSERTs of one digest for each COMMIT of the run.
func db119(v *view) []iikanji.Finding {
	commits := v.status["com_commit"]
	for _, d := range v.digests {
		if strings.EqualFold(strings.TrimRight(strings.TrimSpace(d.q.SQL), "; "), "commit") && v.status["com_commit"] == 0 {
			commits += d.q.Count
		}
	}
	var out []iikanji.Finding
	for _, d := range v.digests {
		if d.st == nil || d.st.verb != "insert" || d.st.into == nil || commits == 0 || strings.Count(strings.ToLower(d.q.SQL), "values") != 1 || rowsOf(d.q.SQL) != 1 {
			continue
		}
		ended := commits
		if n := v.transactionsWith(d); n > 0 {
			ended = n
		}
		each := d.q.Count / ended
		if each < 1.5 || d.q.Count < 1000 {
			continue
		}
		trips := (d.q.Count - ended) * roundTrip
		f := iikanji.Finding{Code: "DB119", Where: d.place(),
			Claim:    fmt.Sprintf("%s rows go into %s one by one, at least %.1f in each transaction", people(d.q.Count), d.st.into.Name, each),
			Evidence: d.told(iikanji.Evidence{Source: "commits", Text: people(ended) + " commits of transactions that may hold it"}),
			Gain:     iikanji.Range{Lo: round(0.2*d.q.Seconds*(1-1/each) + trips/2), Hi: round(0.8*d.q.Seconds*(1-1/each) + trips)},
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "insert them with one statement: VALUES (…), (…)", Args: map[string]string{"digest": d.Query.Digest, "table": d.st.into.Name}}},
		}
		if v.felt((d.q.Count - ended) * costStatement) {
			out = append(out, f)
		}
	}
	return out
}

// transactionsWith counts the transactions that a digest is part of, where the
// log knows threads.
func (v *view) transactionsWith(d digest) float64 {
	n := 0.0
	for _, p := range v.in.Profiles {
		for _, t := range p.Transactions {
			if slices.Contains(t.Digests, d.Query.Digest) {
				n += float64(t.Count)
			}
		}
	}
	return n
}

// rowsOf counts the rows of VALUES: groups of parentheses at the top level
// after the word, strings passed over.
func rowsOf(sql string) int {
	at := strings.Index(strings.ToLower(sql), "values")
	if at < 0 {
		return 0
	}
	rows, depth, quoted := 0, 0, byte(0)
	for i := at; i < len(sql); i++ {
		switch c := sql[i]; {
		case quoted != 0:
			if c == '\\' {
				i++
			} else if c == quoted {
				quoted = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quoted = c
		case c == '(':
			if depth == 0 {
				rows++
			}
			depth++
		case c == ')':
			depth--
		}
	}
	return rows
}
