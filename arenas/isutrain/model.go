package isutrain

// What the benchmarker knows of the target. contest.mu guards all fields that change.
type (
	// A model are the reservations that the target has acknowledged.
	model struct {
		all      []*reservation
		byTrain  map[*train][]*reservation
		byID     map[int]*reservation
		localCar map[seat]bool // seats of the reserved car of local trains that were ever asked for
	}

	reservation struct {
		id           int
		train        *train
		from, to     int // stations
		class        string
		smoking      bool
		column       string // wanted
		seats        []seat // empty in the request for any seats; none for non-reserved ones
		adult, child int
		amount       int

		paying, paid        bool // a commit was sent, was acknowledged
		cancelling, removed bool // a cancellation was sent, was acknowledged
	}
)

func newModel() *model {
	return &model{byTrain: map[*train][]*reservation{}, byID: map[int]*reservation{}, localCar: map[seat]bool{}}
}

// persons is the number of passengers.
func (r *reservation) persons() int { return r.adult + r.child }

// overlaps reports whether two reservations of a train have a part of the line in common.
func (r *reservation) overlaps(o *reservation) bool {
	return min(r.from, r.to) < max(o.from, o.to) && min(o.from, o.to) < max(r.from, r.to)
}

// rival returns a reservation that holds one of the seats of another one.
func (m *model) rival(r *reservation) *reservation {
	for _, o := range m.byTrain[r.train] {
		if o == r || o.cancelling || !r.overlaps(o) {
			continue
		}
		for _, a := range o.seats {
			for _, b := range r.seats {
				if a == b {
					return o
				}
			}
		}
	}
	return nil
}

func (m *model) add(r *reservation) {
	m.all = append(m.all, r)
	m.byID[r.id] = r
	m.byTrain[r.train] = append(m.byTrain[r.train], r)
}
