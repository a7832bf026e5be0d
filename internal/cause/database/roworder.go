package database

import (
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// rowOrder is the proof that a change of a table's indexes keeps the order of
// rows: no statement of the run sent several rows of the table unsorted. It is
// empty if one did. A statement that cannot be parsed counts if it contains the
// table's name.
func rowOrder(v *cause.View, table string) []iikanji.Proof {
	for _, d := range v.Digests {
		if d.Totals.Sent <= float64(d.Count) {
			continue
		}
		blk := d.Block()
		if blk == nil {
			if strings.Contains(strings.ToLower(d.Totals.SQL), strings.ToLower(table)) {
				return nil
			}
			continue
		}
		if len(blk.Order) > 0 || blk.BadOrder != "" || blk.CountAll {
			continue
		}
		for _, r := range blk.Refs {
			if r.Table != nil && !r.Semi && strings.EqualFold(r.Table.Name, table) {
				return nil
			}
		}
	}
	return []iikanji.Proof{iikanji.RowsSorted}
}
