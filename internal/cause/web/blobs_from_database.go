package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	blobFixed   = 0.95 // share of the URLs that were asked again whose answers had one size
	blobRepeats = 50   // least answers beyond the first of each URL
	blobNear    = 0.3  // share by which an answer's mean size and that of a column may differ
	blobReads   = 0.5  // least number of reads of the column by answer
)

var blobsFromDatabase = cause.Declare(cause.PerWeb, findBlobsFromDatabase,
	cause.Cause{Code: "WEB111", Title: "blobs from the database", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "pictures that never change are read from the database for each request",
		Remedies: []cause.Way{
			cause.Plan("nginxconf", "cache until reset", iikanji.RoleWeb),
			cause.Plan("nginxconf", "cache", iikanji.RoleWeb),
			cause.Plan("nginxconf", "expires", iikanji.RoleWeb), cause.Patch}})

// findBlobsFromDatabase reports large values that never change, such as pictures by id, and that
// the app reads from the database for each request. Repeated requests through the
// run prove that they do not change, or that the answer is the value of a column to
// which no statement of the run wrote: a slow site answers few requests twice. The
// size of a blob column, and a statement that reads it about as often, prove that the
// answers come out of the database.
func findBlobsFromDatabase(v *cause.View) []iikanji.Finding {
	series := cause.FactsOf(v, fact.TopicSeries)
	answers := cause.FactsOf(v, fact.TopicAnswer)
	var out []iikanji.Finding
	for _, r := range v.Access() {
		s := series[v.Self.Name+" "+r.Key]
		a, asked := answers[v.Self.Name+" "+r.Key]
		served := r.Web.Status[2]
		if !cause.IsGet(r.Key) || served == 0 || float64(s.Fixed) < blobFixed*float64(s.Again) {
			continue
		}
		value, stored := stored(v, r.Key)
		if s.FixedRepeats < blobRepeats && !(stored && served >= leastBlobs && !rewrites(v, value)) {
			continue
		}
		size := float64(r.Web.Bytes) / float64(served)
		if size < leastFile || asked && (a.Cookie || a.File != "" || a.Status != 200 || strings.HasPrefix(a.Type, "text/html")) {
			continue
		}
		d, column, ok := readsBlob(v, size, float64(served))
		if !ok {
			continue
		}
		f := iikanji.Finding{Code: "WEB111", Where: r.Key,
			Claim:    fmt.Sprintf("%s answers of %s each come out of column %s in the database, and none changed in the run: %s of them had been sent before", cause.Number(float64(served)), iikanji.Bytes(size), column, cause.Number(float64(s.FixedRepeats))),
			Evidence: []iikanji.Evidence{{Source: "access log", Text: fmt.Sprintf("of %d URLs that were requested again, %d always had the same size", s.Again, s.Fixed)}, d.Evidence()},
			Remedies: slices.Concat(v.Patch("write each of them to a file when it is stored, and let the web server send the files; or keep them in the web server's cache for long, and purge it when the data are made anew", map[string]string{"digest": d.Query.Digest}), keepData(v, r.Key)[:1])}
		if asked && a.SameForAll && a.Users >= leastUsers {
			f.Remedies = slices.Concat(keepUntilReset(v, r.Key, s, stored && !rewrites(v, value)), keepLong(v, r.Key), f.Remedies)
		}
		share := min(1, float64(s.FixedRepeats)/float64(r.Count))
		all := d.Left()*min(1, float64(served)/max(1, d.Totals.Count)) + float64(served)*viaApp.Hi
		f.Gain = cause.Between(all*share, 0.4, 1)
		if stored { // each of them could be a file
			f.Gain = iikanji.Range{Lo: cause.Round(0.4 * all * share), Hi: cause.Round(all)}
			f.Claim = fmt.Sprintf("%s answers of %s each come out of column %s in the database, and no statement of the run wrote to it", cause.Number(float64(served)), iikanji.Bytes(size), column)
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "answer", Text: fmt.Sprintf("GET %s is, byte for byte, %s.%s of row %d", value.URL, value.Table, value.Column, value.ID)})
		}
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f iikanji.Finding) bool { return !v.Worth(f.Gain) })
}

// keepLong is the remedy of nginx's cache, with the longest validity that it has: the
// values of a run before, under the same URLs, are gone then.
func keepLong(v *cause.View, route string) []iikanji.Remedy {
	path, ok := onePath(route)
	if !ok {
		return nil
	}
	return cause.Proven(v.NginxConf("keep them for 100 s in nginx: a value that is replaced under its URL may be that old (freshness)",
		map[string]string{"act": "cache", "path": path, "valid": "100s", "cookies": "ignore"}), iikanji.SameForAll)
}

// stored is the value in a database that the answer of a route was compared with, if
// they are equal.
func stored(v *cause.View, route string) (fact.StoredValue, bool) {
	for _, f := range v.Input.Facts {
		if f.Key == route {
			if s, ok := cause.Decode(f, fact.TopicValue); ok {
				return s, true
			}
		}
	}
	return fact.StoredValue{}, false
}

// rewrites reports whether a statement of the run set a column of rows that were
// there. New rows have new keys.
func rewrites(v *cause.View, s fact.StoredValue) bool {
	return slices.ContainsFunc(v.Digests, func(d cause.Digest) bool {
		switch {
		case d.Parsed == nil:
			return d.Query != nil && strings.Contains(strings.ToLower(d.Query.Fingerprint), strings.ToLower(s.Table)) && !strings.HasPrefix(strings.ToLower(d.Query.Fingerprint), "select")
		case d.Parsed.Into == nil || !strings.EqualFold(d.Parsed.Into.Name, s.Table):
			return false
		}
		return d.Parsed.Verb == "replace" || d.Parsed.Upsert || slices.Contains(d.Parsed.Sets, strings.ToLower(s.Column))
	})
}

// readsBlob is the statement that reads a blob column whose mean length is near a
// size, at least about as often as there were answers; the column is named
// table.column.
func readsBlob(v *cause.View, size, answers float64) (best cause.Digest, column string, ok bool) {
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil || d.Totals.Sent < blobReads*answers {
			continue
		}
		for i, ref := range blk.Refs {
			if ref.Table == nil {
				continue
			}
			for name, c := range ref.Table.ByName {
				if !strings.Contains(strings.ToLower(c.Type), "blob") || !blk.All[i] && !blk.Used[i][name] {
					continue
				}
				n := ref.Table.Length(c.Name)
				if n < (1-blobNear)*size || n > (1+blobNear)*size || ok && d.Left() <= best.Left() {
					continue
				}
				best, column, ok = d, ref.Table.Name+"."+c.Name, true
			}
		}
	}
	return best, column, ok
}
