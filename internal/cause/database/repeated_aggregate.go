package database

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// leastAggregated is the least number of rows that one execution of an aggregate
	// reads, and leastFolded how many of them make one row of its answer.
	leastAggregated = 500
	leastAggregates = 5 // executions: a page of a slow site is shown a few times in a run
	leastFolded     = 20
	// fullySaved is the share of the seconds of an aggregate that an index of DB101
	// saves, from which nothing is left to keep.
	fullySaved = 0.9
)

var repeatedAggregate = cause.Declare(cause.PerDatabase, findRepeatedAggregate,
	cause.Cause{Code: "DB126", Title: "aggregate computed again", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "many rows are aggregated for a few, which a write could keep",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase), cause.Patch}})

// findRepeatedAggregate reports aggregates (GROUP BY, MAX, SUM, DISTINCT) that read many rows each time
// for a short answer and that no index of DB101 shortens: totals that could be kept
// when a row is written. Counts are DB112 and DB125.
func findRepeatedAggregate(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil || blk.CountAll || len(blk.Group) == 0 && !blk.BadGroup && !blk.Aggregates && len(blk.MinMax) == 0 && !blk.Distinct {
			continue
		}
		count := max(1, d.Totals.Count)
		each, sent := d.Totals.Examined/count, float64(d.Query.Sent)/count
		if d.Totals.Count < leastAggregates || each < leastAggregated || each < leastFolded*sent || d.Saved >= fullySaved*d.Totals.Seconds {
			continue
		}
		f := iikanji.Finding{Code: "DB126", Where: d.Place(), Gain: cause.Between(d.Left(), 0.5, 0.98), Evidence: d.WithEvidence(),
			Claim:    fmt.Sprintf("%s rows are read and aggregated for %s rows of an answer, %s times", cause.Number(each), cause.Number(sent), cause.Number(d.Totals.Count)),
			Remedies: v.Patch("keep the result in a column or a table, updated by each write, with an index in the order of the answer; or keep the pages that show it", map[string]string{"digest": d.Query.Digest})}
		f.Remedies = append(keepResult(v, d, &f), f.Remedies...)
		if v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

const (
	// resultCache is the size of the server's query cache for the results of
	// aggregates, which are short.
	resultCache = "16777216"
	// leastReused is the least share of the executions that find the result of an
	// earlier one: at worst each write to one of the tables drops it.
	leastReused = 0.5
)

var (
	limited = regexp.MustCompile(`(?i)\blimit\s+(\?|\d+)(\s*(,|offset)\s*(\?|\d+))?`)
	// uncached are functions whose presence keeps a result out of the query cache.
	uncached = regexp.MustCompile(`(?i)\b((now|curdate|curtime|current_\w+|sysdate|localtime\w*|rand|uuid|user|database|schema|connection_id|last_insert_id|found_rows|unix_timestamp|utc_\w+|sleep)\s*\(|(current_\w+|utc_\w+|localtime\w*|sql_no_cache)\b)`)
)

// keepResult is the remedy of MariaDB's query cache, which is off: for a statement
// that has the same text each time, and whose tables are seldom written.
func keepResult(v *cause.View, d cause.Digest, f *iikanji.Finding) []iikanji.Remedy {
	size, _ := bytes(v, "query_cache_size")
	kind := strings.ToUpper(v.Variables["query_cache_type"])
	off := kind == "OFF" || kind == "0" || kind == "ON" && size == 0
	text := limited.ReplaceAllString(d.Query.Fingerprint, "")
	if !off || d.Parsed == nil || strings.Contains(text, "?") || uncached.MatchString(text) {
		return nil
	}
	writes := 0.0
	for _, o := range v.Digests {
		if o.Parsed != nil && o.Parsed.Verb != "select" && o.Database == d.Database && alters(v, o, d) {
			writes += o.Totals.Count
		}
	}
	if reused := 1 - (writes+1)/max(1, d.Totals.Count); reused < leastReused {
		return nil
	}
	f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "variable", Text: fmt.Sprintf("query_cache_type = %s: the statement has the same text each time, and %s statements of the run wrote to its tables", v.Variables["query_cache_type"], cause.Number(writes))})
	return []iikanji.Remedy{v.OnSelf("mysqlconf", "turn the server's query cache on: the result is kept until a write to one of its tables", map[string]string{"query_cache_type": "1", "query_cache_size": resultCache})}
}

// alters reports whether a statement writes a table that another one reads.
func alters(v *cause.View, write, read cause.Digest) bool {
	tables := read.Parsed.Tables()
	if write.Parsed.Into != nil && tables[write.Parsed.Into] {
		return true
	}
	if write.Parsed.Verb != "update" && write.Parsed.Verb != "delete" {
		return false
	}
	for t := range write.Parsed.Tables() { // the tables that it reads are those that it writes, or more
		if tables[t] {
			return true
		}
	}
	return false
}
