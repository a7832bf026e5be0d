package cause

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// rowOrder is the proof that a change of a table's indexes keeps the order of
// rows: no statement of the run sent several rows of the table unsorted. It is
// empty if one did. A statement that cannot be parsed counts if it contains the
// table's name.
func (v *view) rowOrder(table string) []iikanji.Proof {
	for _, d := range v.digests {
		if d.q.Sent <= float64(d.Count) {
			continue
		}
		blk := d.block()
		if blk == nil {
			if strings.Contains(strings.ToLower(d.q.SQL), strings.ToLower(table)) {
				return nil
			}
			continue
		}
		if len(blk.order) > 0 || blk.badOrder != "" || blk.countAll {
			continue
		}
		for _, r := range blk.refs {
			if r.table != nil && !r.semi && strings.EqualFold(r.table.Name, table) {
				return nil
			}
		}
	}
	return []iikanji.Proof{iikanji.RowsSorted}
}
