package isuumo

import "time"

// A world is what the benchmarker knows of the target's data during a run. It is
// the model that every answer is compared with.
type world struct {
	chairs  *chairs
	estates *estates

	chairConditions  ChairConditions
	estateConditions EstateConditions
	chairPickers     []picker
	estatePickers    []picker

	origin time.Time // of now
}

// newWorld returns the state right after initialize. d is not changed.
//
// The users' searches never have features. The contest's benchmarker had code
// for features but its draw left the last choice out, by one, and that choice
// was features. They stay out here, so that the load is the one whose results
// the teams published; the verification searches features.
func newWorld(d *Dataset, cc ChairConditions, ec EstateConditions) *world {
	c, e := newChairs(d, &cc), newEstates(d, &ec)
	return &world{chairs: c, estates: e, chairConditions: cc, estateConditions: ec, origin: time.Now(),
		chairPickers: []picker{
			byRange("priceRangeId", 3, c.price), byRange("heightRangeId", 2, c.height), byRange("widthRangeId", 1, c.width),
			byRange("depthRangeId", 1, c.depth), byLabel("kind", 1, cc.Kind, c.kind), byLabel("color", 1, cc.Color, c.color),
		},
		estatePickers: []picker{
			byRange("rentRangeId", 3, e.rent), byRange("doorHeightRangeId", 1, e.doorHeight), byRange("doorWidthRangeId", 1, e.doorWidth),
		},
	}
}

// now is the time by which purchases and requests are compared. It is never 0.
func (w *world) now() time.Duration { return time.Since(w.origin) + 1 }
