package isuumo

import (
	"fmt"
	"iter"
)

// A window is a piece of an ordered list: up to limit rows after the first
// offset rows.
type window struct{ offset, limit int }

// A deviation is the first difference between an answer and what the model
// allows.
type deviation struct {
	what string
	pos  int32 // of the row
}

const (
	rowMissing   = "a row is missing"
	rowMisplaced = "a row belongs to another page"
	rowExtra     = "a row does not belong to the list"
	rowTooMany   = "there are more rows than the limit"
)

// compare compares the rows got of an answer with a list of rows, both in the
// order of the list. Rows that are not sure may be in the list of the target or
// not: a posted row may appear late, a chair may just have been sold. Without
// such rows the comparison is exact. With them, a row must be in the answer if
// it is in the window whichever of them the target lists, and may be in it only
// if it is in the window for some choice.
func compare(list iter.Seq[int32], sure func(pos int32) bool, got []int32, win window) *deviation {
	if len(got) > win.limit {
		return &deviation{rowTooMany, got[win.limit]}
	}
	least, most := 0, 0 // rank of the present row without and with the rows that are not sure
	end := win.offset + win.limit
	for pos := range list {
		must := sure(pos)
		switch {
		case len(got) > 0 && got[0] == pos:
			if most < win.offset || least >= end {
				return &deviation{rowMisplaced, pos}
			}
			got = got[1:]
		case must && least >= win.offset && most < end:
			return &deviation{rowMissing, pos}
		}
		if must {
			least++
		}
		if most++; least >= end && len(got) == 0 {
			return nil
		}
	}
	if len(got) > 0 {
		return &deviation{rowExtra, got[0]}
	}
	return nil
}

func (d *deviation) describe(ids []int64) string { return fmt.Sprintf("%s: id %d", d.what, ids[d.pos]) }
