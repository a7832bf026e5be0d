package change

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// An order is the body of an op whose place has few states: all that performing it needs is
// in it, and both states that the change knows.
type order interface {
	// states are those before and after the op.
	states() (before, left iikanji.Fingerprint)
	// text describes a state for people, "" for one that the order does not know.
	text(state iikanji.Fingerprint) string
}

// Partly is the fingerprint of a place where an op has done a part of its work. The op goes
// on when it is performed again, and so does its undo.
const Partly iikanji.Fingerprint = "partly"

// orderOf reads the body of an op on a unit, a folder or an account; nil for other ops.
func orderOf(op iikanji.Op) (order, error) {
	switch op.Verb {
	case iikanji.Unit:
		return ParseUnitOrder(op.Body)
	case iikanji.Place:
		return ParsePlaceOrder(op.Body)
	case iikanji.Account:
		return ParseAccountOrder(op.Body)
	}
	return nil, nil
}

// waitsFor are the indexes of the ops that must be done before op i of a list. An op waits
// for earlier ones only, so that no two wait for each other.
func waitsFor(ops []iikanji.Op, i int) ([]int, error) {
	var all []int
	switch text := ops[i].After; text {
	case "-":
	case "":
		for j := range i {
			all = append(all, j)
		}
	default:
		for word := range strings.FieldsSeq(text) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > i {
				return nil, fmt.Errorf("op %d on %s waits for op %q, which is not before it", i+1, ops[i].Location(), word)
			}
			all = append(all, n-1)
		}
	}
	return all, nil
}
