package diagnose

import "strings"

// Args["weakens"] of a remedy of kind ddl: what an index change takes away.
const (
	takesRowOrder = "row-order"
	takesNothing  = "nothing"
)

// rowOrder says what a change of a table's indexes may take away: the order of
// rows that nobody asked for, where a statement of the run sent more than one
// row of the table and sorts them by nothing. What the parser does not know
// counts as such a statement when it names the table.
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
