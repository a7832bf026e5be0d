package isuumo

import (
	"math"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A wireChair is a chair as the API shows it.
type wireChair struct {
	id                                                int64
	name, description, thumbnail, color, labels, kind []byte
	price, height, width, depth                       int64
	fields                                            uint16 // one bit per field that was there
}

const allChairFields = 1<<11 - 1

func readChair(r *jsonread.Reader) (w wireChair) {
	r.Object(func(name []byte) {
		bit := uint16(0)
		switch string(name) {
		case "id":
			w.id, bit = r.Int(), 1
		case "name":
			w.name, bit = r.Str(), 2
		case "description":
			w.description, bit = r.Str(), 4
		case "thumbnail":
			w.thumbnail, bit = r.Str(), 8
		case "price":
			w.price, bit = r.Int(), 16
		case "height":
			w.height, bit = r.Int(), 32
		case "width":
			w.width, bit = r.Int(), 64
		case "depth":
			w.depth, bit = r.Int(), 128
		case "color":
			w.color, bit = r.Str(), 256
		case "features":
			w.labels, bit = r.Str(), 512
		case "kind":
			w.kind, bit = r.Str(), 1024
		default:
			r.Skip()
		}
		w.fields |= bit
	})
	return w
}

// differs reports whether a shown chair is not the one of the model.
func (w *wireChair) differs(c *Chair) bool {
	return w.fields != allChairFields || w.id != c.ID || string(w.name) != c.Name || string(w.description) != c.Description ||
		string(w.thumbnail) != c.Thumbnail || w.price != c.Price || w.height != c.Height || w.width != c.Width ||
		w.depth != c.Depth || string(w.color) != c.Color || string(w.labels) != c.Features || string(w.kind) != c.Kind
}

// A wireEstate is an estate as the API shows it.
type wireEstate struct {
	id                                            int64
	thumbnail, name, description, address, labels []byte
	latitude, longitude                           float64
	rent, doorHeight, doorWidth                   int64
	fields                                        uint16 // one bit per field that was there
}

const allEstateFields = 1<<11 - 1

func readEstate(r *jsonread.Reader) (w wireEstate) {
	r.Object(func(name []byte) {
		bit := uint16(0)
		switch string(name) {
		case "id":
			w.id, bit = r.Int(), 1
		case "thumbnail":
			w.thumbnail, bit = r.Str(), 2
		case "name":
			w.name, bit = r.Str(), 4
		case "description":
			w.description, bit = r.Str(), 8
		case "latitude":
			w.latitude, bit = r.Float(), 16
		case "longitude":
			w.longitude, bit = r.Float(), 32
		case "address":
			w.address, bit = r.Str(), 64
		case "rent":
			w.rent, bit = r.Int(), 128
		case "doorHeight":
			w.doorHeight, bit = r.Int(), 256
		case "doorWidth":
			w.doorWidth, bit = r.Int(), 512
		case "features":
			w.labels, bit = r.Str(), 1024
		default:
			r.Skip()
		}
		w.fields |= bit
	})
	return w
}

// coordinateMargin is how far a shown coordinate may be off, in degrees. The
// contest's benchmarker does not compare coordinates at all; a target may store
// them in another form, but it must show them.
const coordinateMargin = 1e-6

func near(a, b float64) bool { return math.Abs(a-b) <= coordinateMargin }

// differs reports whether a shown estate is not the one of the model.
func (w *wireEstate) differs(e *Estate) bool {
	return w.fields != allEstateFields || w.id != e.ID || string(w.thumbnail) != e.Thumbnail || string(w.name) != e.Name ||
		string(w.description) != e.Description || !near(w.latitude, e.Latitude) || !near(w.longitude, e.Longitude) ||
		string(w.address) != e.Address || w.rent != e.Rent || w.doorHeight != e.DoorHeight || w.doorWidth != e.DoorWidth ||
		string(w.labels) != e.Features
}

// noCount is the count of an answer without one.
const noCount = -1

// readList reads an answer with a list of rows, and a count if it has one. item
// reads one row.
func readList(res *scenario.Response, field string, item func(r *jsonread.Reader)) (count int64, err error) {
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return 0, err
	}
	count, there := noCount, false
	r.Object(func(name []byte) {
		switch string(name) {
		case "count":
			count = r.Int()
		case field:
			if there = true; !r.Null() { // an empty list may be null
				r.Array(func() { item(&r) })
			}
		default:
			r.Skip()
		}
	})
	if err := verify.EndJSON(res, &r); err != nil {
		return 0, err
	}
	if !there {
		return 0, scenario.Wrong(res, "list-field", "no field %q", field)
	}
	return count, nil
}

// readChairs reads a list of chairs and checks each by itself: it must be known,
// unchanged, and not sold out before the request was sent.
func (w *world) readChairs(res *scenario.Response, asked time.Duration) (got []int32, count int64, err error) {
	var first error
	count, err = readList(res, "chairs", func(r *jsonread.Reader) {
		c := readChair(r)
		if r.Err() != nil || first != nil {
			return
		}
		pos, ok := w.chairs.find(c.id)
		switch {
		case !ok:
			first = scenario.Wrong(res, "chair-unknown", "id %d was never in the data", c.id)
		case c.differs(&w.chairs.all[pos]):
			first = scenario.Wrong(res, "chair-fields", "chair %d is not as it was loaded", c.id)
		case w.chairs.soldBefore(pos, asked):
			first = scenario.Wrong(res, "chair-sold-out", "chair %d was sold out before the request", c.id)
		}
		got = append(got, pos)
	})
	if err != nil {
		return nil, 0, err
	}
	return got, count, first
}

// readEstates reads a list of estates and checks each by itself.
func (w *world) readEstates(res *scenario.Response) (got []int32, count int64, err error) {
	var first error
	count, err = readList(res, "estates", func(r *jsonread.Reader) {
		e := readEstate(r)
		if r.Err() != nil || first != nil {
			return
		}
		pos, ok := w.estates.find(e.id)
		switch {
		case !ok:
			first = scenario.Wrong(res, "estate-unknown", "id %d was never in the data", e.id)
		case e.differs(&w.estates.all[pos]):
			first = scenario.Wrong(res, "estate-fields", "estate %d is not as it was loaded", e.id)
		}
		got = append(got, pos)
	})
	if err != nil {
		return nil, 0, err
	}
	return got, count, first
}

// readIDs reads the ids of a list, nil from an answer that has none.
func readIDs(res *scenario.Response, field string) (ids []int64) {
	_, err := readList(res, field, func(r *jsonread.Reader) {
		r.Object(func(name []byte) {
			if string(name) == "id" {
				ids = append(ids, r.Int())
			} else {
				r.Skip()
			}
		})
	})
	if err != nil {
		return nil
	}
	return ids
}
