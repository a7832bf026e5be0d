package rewrite

import "slices"

// levers are all levers in the order of their codes.
var levers = []*Lever{&firstRowOnly, &loopStopsEarly, &unreadColumns, &rowByRowInsert, &nPlusOne, &madeAnew, &queryCache, &slowEncoder,
	&programPerRequest, &readOnlyTransaction, &workUnderLock, &droppedConnections, &overread, &throttlingConstant, &testPerRow, &waitInTransaction, &idByID, &derivedForAll, &syncedFile, &wholeFileInMemory}

// All returns the levers in the order of their codes.
func All() []*Lever { return slices.Clone(levers) }

// Lookup returns the lever of a code, or nil if there is none.
func Lookup(code string) *Lever {
	i := slices.IndexFunc(levers, func(l *Lever) bool { return l.Code == code })
	if i < 0 {
		return nil
	}
	return levers[i]
}
