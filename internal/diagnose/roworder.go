package diagnose

import "strings"

// Values of Args["weakens"] of a remedy of kind ddl: the promise that an index
// change weakens.
const (
	takesRowOrder = "row-order"
	takesNothing  = "nothing"
)

// rowOrder is the promise that a change of a table's indexes may weaken: the
// order of rows without ORDER BY, if a statement of the run sent several rows
// of the table unsorted. A statement that cannot be parsed counts if it
// contains the table's name.
func (v *view) rowOrder(table string) string {
	for _, d := range v.digests {
		if d.q.Sent <= float64(d.Count) {
			continue
		}
		blk := d.block()
		if blk == nil {
			if strings.Contains(strings.ToLower(d.q.SQL), strings.ToLower(table)) {
				return takesRowOrder
			}
			continue
		}
		if len(blk.order) > 0 || blk.badOrder != "" || blk.countAll {
			continue
		}
		for _, r := range blk.refs {
			if r.table != nil && !r.semi && strings.EqualFold(r.table.Name, table) {
				return takesRowOrder
			}
		}
	}
	return takesNothing
}
