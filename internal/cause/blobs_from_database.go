package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	blobFixed   = 0.95 // share of the URLs that were asked again whose answers had one size
	blobRepeats = 50   // least answers beyond the first of each URL
	blobNear    = 0.3  // share by which an answer's mean size and that of a column may differ
	blobReads   = 0.5  // least number of reads of the column by answer
)

var blobsFromDatabase = Declare(PerWeb, findBlobsFromDatabase,
	Cause{Code: "WEB111", Title: "blobs from the database", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line: "pictures that never change are read from the database for each request",
		Remedies: []Way{
			Plan("nginxconf", "cache until reset", iikanji.RoleWeb),
			Plan("nginxconf", "cache", iikanji.RoleWeb),
			Patch}})

// findBlobsFromDatabase reports large values that never change, such as pictures by id, and that
// the app reads from the database for each request. Repeated requests through the
// run prove that they do not change, or that the answer is the value of a column to
// which no statement of the run wrote: a slow site answers few requests twice. The
// size of a blob column, and a statement that reads it about as often, prove that the
// answers come out of the database.
func findBlobsFromDatabase(v *view) []iikanji.Finding {
	series := known[iikanji.Series](v, iikanji.TopicSeries)
	answers := known[iikanji.Answer](v, iikanji.TopicAnswer)
	var out []iikanji.Finding
	for _, r := range v.access() {
		s := series[v.self.Name+" "+r.Key]
		a, asked := answers[v.self.Name+" "+r.Key]
		served := r.Web.Status[2]
		if !isGet(r.Key) || served == 0 || float64(s.Fixed) < blobFixed*float64(s.Again) {
			continue
		}
		value, stored := v.stored(r.Key)
		if s.FixedRepeats < blobRepeats && !(stored && served >= leastBlobs && !v.rewrites(value)) {
			continue
		}
		size := float64(r.Web.Bytes) / float64(served)
		if size < leastFile || asked && (a.Cookie || a.File != "" || a.Status != 200 || strings.HasPrefix(a.Type, "text/html")) {
			continue
		}
		d, column, ok := v.readsBlob(size, float64(served))
		if !ok {
			continue
		}
		f := iikanji.Finding{Code: "WEB111", Where: r.Key,
			Claim:    fmt.Sprintf("%s answers of %s each come out of column %s in the database, and none changed in the run: %s of them had been sent before", people(float64(served)), iikanji.Bytes(size), column, people(float64(s.FixedRepeats))),
			Evidence: []iikanji.Evidence{{Source: "access log", Text: fmt.Sprintf("of %d URLs that were requested again, %d always had the same size", s.Again, s.Fixed)}, d.evidence()},
			Remedies: slices.Concat(v.patch("write each of them to a file when it is stored, and let the web server send the files; or keep them in the web server's cache for long, and purge it when the data are made anew", map[string]string{"digest": d.Query.Digest}), v.keepData(r.Key)[:1])}
		if asked && a.SameForAll && a.Users >= leastUsers {
			f.Remedies = slices.Concat(v.keepUntilReset(r.Key, s, stored && !v.rewrites(value)), v.keepLong(r.Key), f.Remedies)
		}
		share := min(1, float64(s.FixedRepeats)/float64(r.Count))
		all := d.left()*min(1, float64(served)/max(1, d.q.Count)) + float64(served)*viaApp.Hi
		f.Gain = between(all*share, 0.4, 1)
		if stored { // each of them could be a file
			f.Gain = iikanji.Range{Lo: round(0.4 * all * share), Hi: round(all)}
			f.Claim = fmt.Sprintf("%s answers of %s each come out of column %s in the database, and no statement of the run wrote to it", people(float64(served)), iikanji.Bytes(size), column)
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "answer", Text: fmt.Sprintf("GET %s is, byte for byte, %s.%s of row %d", value.URL, value.Table, value.Column, value.ID)})
		}
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f iikanji.Finding) bool { return !v.worth(f.Gain) })
}

// keepLong is the remedy of nginx's cache, with the longest validity that it has: the
// values of a run before, under the same URLs, are gone then.
func (v *view) keepLong(route string) []iikanji.Remedy {
	path, ok := onePath(route)
	if !ok {
		return nil
	}
	return proven(v.nginxconf("keep them for 100 s in nginx: a value that is replaced under its URL may be that old (freshness)",
		map[string]string{"act": "cache", "path": path, "valid": "100s", "cookies": "ignore"}), iikanji.SameForAll)
}

// stored is the value in a database that the answer of a route was compared with, if
// they are equal.
func (v *view) stored(route string) (iikanji.StoredValue, bool) {
	for _, f := range v.in.Facts {
		if f.Key == route {
			if s, ok := decode[iikanji.StoredValue](f, iikanji.TopicValue); ok {
				return s, true
			}
		}
	}
	return iikanji.StoredValue{}, false
}

// rewrites reports whether a statement of the run set a column of rows that were
// there. New rows have new keys.
func (v *view) rewrites(s iikanji.StoredValue) bool {
	return slices.ContainsFunc(v.digests, func(d digest) bool {
		switch {
		case d.st == nil:
			return d.Query != nil && strings.Contains(strings.ToLower(d.Query.Fingerprint), strings.ToLower(s.Table)) && !strings.HasPrefix(strings.ToLower(d.Query.Fingerprint), "select")
		case d.st.into == nil || !strings.EqualFold(d.st.into.Name, s.Table):
			return false
		}
		return d.st.verb == "replace" || d.st.upsert || slices.Contains(d.st.sets, strings.ToLower(s.Column))
	})
}

// readsBlob is the statement that reads a blob column whose mean length is near a
// size, at least about as often as there were answers; the column is named
// table.column.
func (v *view) readsBlob(size, answers float64) (best digest, column string, ok bool) {
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil || d.q.Sent < blobReads*answers {
			continue
		}
		for i, ref := range blk.refs {
			if ref.table == nil {
				continue
			}
			for name, c := range ref.table.columns {
				if !strings.Contains(strings.ToLower(c.Type), "blob") || !blk.all[i] && !blk.used[i][name] {
					continue
				}
				n := ref.table.length(c.Name)
				if n < (1-blobNear)*size || n > (1+blobNear)*size || ok && d.left() <= best.left() {
					continue
				}
				best, column, ok = d, ref.table.Name+"."+c.Name, true
			}
		}
	}
	return best, column, ok
}
