package database

import (
	"fmt"
	"math"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	leastReads = 1000.0  // least pages read from disk in a run
	readShare  = 0.005   // least share of all page requests
	pageRead   = 100e-6  // assumed seconds to read a page: a solid-state disk
	poolMargin = 1.2     // factor for growth during the run and for InnoDB's own data
	memoryPart = 0.5     // share of the least free memory that the pool may take
	poolStep   = 1 << 27 // granularity of the pool's size in bytes
)

var smallBufferPool = cause.Declare(cause.PerDatabase, findSmallBufferPool,
	cause.Cause{Code: "DB201", Title: "buffer pool too small", Of: iikanji.OfStatements, Relieves: cause.Disk | cause.Locks | cause.Pool,
		Line:     "pages that memory could hold are read from disk",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase), cause.Person}})

// findSmallBufferPool reports a buffer pool that is smaller than the data while pages are
// read from disk. The remedy has the size that holds the data, if there is
// enough memory.
func findSmallBufferPool(v *cause.View) []iikanji.Finding {
	reads, requests := v.Status["innodb_buffer_pool_reads"], v.Status["innodb_buffer_pool_read_requests"]
	size, known := bytes(v, "innodb_buffer_pool_size")
	data := 0.0
	for _, t := range v.Schema.Tables {
		data += float64(t.Size.Data + t.Size.Index)
	}
	if !known || reads < leastReads || reads < readShare*requests || data*poolMargin <= size {
		return nil // reads that only warm the pool up are harmless
	}
	each, by := pageRead, "assumed"
	free := math.Inf(1)
	for _, r := range v.Input.Rows(iikanji.Host) {
		if r.Host == nil || r.Host.Machine == nil {
			continue
		}
		free = float64(r.Host.Machine.MemLeast)
		if took := r.Host.Machine.ReadTook.Seconds(); took > 0 {
			each, by = took, "measured"
		}
	}
	want := min(math.Ceil(data*poolMargin/poolStep), math.Floor((size+memoryPart*free)/poolStep)) * poolStep
	f := iikanji.Finding{Code: "DB201", Where: v.Self.Name,
		Claim: fmt.Sprintf("%s pages are read from disk, because %s of data do not fit into a buffer pool of %s", cause.Number(reads), iikanji.Bytes(data), iikanji.Bytes(size)),
		Evidence: []iikanji.Evidence{
			{Source: "status", Text: fmt.Sprintf("Innodb_buffer_pool_reads +%.0f of Innodb_buffer_pool_read_requests +%.0f (%.1f %%); %.2f ms for each (%s)", reads, requests, 100*reads/max(1, requests), 1000*each, by)},
			{Source: "schema", Text: fmt.Sprintf("%s of rows and indexes in %s", iikanji.Bytes(data), cause.Plural(float64(len(v.Schema.Tables)), "table"))},
		},
		Gain: cause.Between(reads*each, 0.2, min(1, (want-size)/max(1, data-size))),
	}
	if !math.IsInf(free, 1) {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("at least %s of memory was free during the run", iikanji.Bytes(free))})
	}
	if want <= size {
		f.Remedies = []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "no memory is left: move the database to a machine with more")}
		return []iikanji.Finding{f}
	}
	f.Remedies = []iikanji.Remedy{v.OnSelf("mysqlconf", fmt.Sprintf("use a buffer pool of %s", iikanji.Bytes(want)), map[string]string{"innodb_buffer_pool_size": strconv.FormatFloat(want, 'f', 0, 64)})}
	return []iikanji.Finding{f}
}

// bytes is the value of a numeric variable.
func bytes(v *cause.View, name string) (float64, bool) {
	n, err := strconv.ParseFloat(v.Variables[name], 64)
	return n, err == nil
}
