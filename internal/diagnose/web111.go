package diagnose

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

// web111 reports large values that never change, such as pictures by id, and that
// the app reads from the database for each request. Repeated requests through the
// run prove that they do not change; the size of a blob column, and a statement that
// reads it about as often, that they come out of the database.
func web111(v *view) []iikanji.Finding {
	series := known[iikanji.Series](v, iikanji.TopicSeries)
	answers := known[iikanji.Answer](v, iikanji.TopicAnswer)
	var out []iikanji.Finding
	for _, r := range v.access() {
		s := series[v.self.Name+" "+r.Key]
		a, asked := answers[v.self.Name+" "+r.Key]
		served := r.Web.Status[2]
		if !strings.HasPrefix(r.Key, "GET ") || served == 0 || s.FixedRepeats < blobRepeats || float64(s.Fixed) < blobFixed*float64(s.Again) {
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
		share := min(1, float64(s.FixedRepeats)/float64(r.Count))
		saved := d.left()*min(1, float64(served)/max(1, d.q.Count))*share + float64(s.FixedRepeats)*viaApp.Hi
		out = append(out, iikanji.Finding{Code: "WEB111", Where: r.Key,
			Claim:    fmt.Sprintf("%s answers of %s each come out of column %s in the database, and none changed in the run: %s of them had been sent before", people(float64(served)), iikanji.Bytes(size), column, people(float64(s.FixedRepeats))),
			Evidence: []iikanji.Evidence{{Source: "access log", Text: fmt.Sprintf("of %d URLs that were requested again, %d always had the same size", s.Again, s.Fixed)}, d.evidence()},
			Gain:     between(saved, 0.4, 1),
			Remedies: slices.Concat(v.patch("write each of them to a file when it is stored, and let the web server send the files; or keep them in the web server's cache for long, and purge it when the data are made anew", map[string]string{"digest": d.Query.Digest}), v.keepData(r.Key)[:1])})
	}
	return slices.DeleteFunc(out, func(f iikanji.Finding) bool { return !v.worth(f.Gain) })
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
