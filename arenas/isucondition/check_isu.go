package isucondition

import (
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A wireISU is an ISU as the API shows it.
type wireISU struct {
	id                    int64
	uuid, name, character []byte
	latest                wireCondition
	hasLatest             bool
	listed                bool // latest_isu_condition was present, null or not
}

// readWireISU reads one ISU object.
func readWireISU(r *jsonread.Reader) (w wireISU) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "id":
			w.id = r.Int()
		case "jia_isu_uuid":
			w.uuid = r.Str()
		case "name":
			w.name = r.Str()
		case "character":
			w.character = r.Str()
		case "latest_isu_condition":
			w.listed = true
			if w.hasLatest = !r.Null(); w.hasLatest {
				w.latest = readCondition(r)
			}
		default:
			r.Skip()
		}
	})
	return w
}

// readISU reads an answer that is one ISU.
func readISU(res *scenario.Response, status int) (wireISU, error) {
	r, err := verify.OpenJSON(res, status)
	if err != nil {
		return wireISU{}, err
	}
	w := readWireISU(&r)
	return w, verify.EndJSON(res, &r)
}

// checkISU checks an answer that shows one chair. The id must equal the one in an
// earlier answer; the first id must be above 0.
func checkISU(res *scenario.Response, status int, c *chair) (id int64, err error) {
	w, err := readISU(res, status)
	if err != nil {
		return 0, err
	}
	return w.id, wantISU(res, "isu", &w, c)
}

// wantISU compares an ISU with the chair that it must show. check is the prefix of
// the checks' names.
func wantISU(res *scenario.Response, check string, w *wireISU, c *chair) error {
	switch id := c.id.Load(); {
	case string(w.uuid) != c.uuid:
		return scenario.Wrong(res, check+"-uuid", "jia_isu_uuid %q, want %s", w.uuid, c.uuid)
	case string(w.name) != c.name:
		return scenario.Wrong(res, check+"-name", "name %q, want %q", w.name, c.name)
	case string(w.character) != Labels[c.character]:
		return scenario.Wrong(res, check+"-character", "character %q, want %q", w.character, Labels[c.character])
	case w.id <= 0 || id != 0 && w.id != id:
		return scenario.Wrong(res, check+"-id", "id %d, want %d", w.id, id)
	}
	return nil
}

// checkList checks GET /api/isu: exactly the owner's chairs, newest first, each
// with a posted condition or with none. exact requires the newest condition. seen
// is called with each chair's latest timestamp, 0 for none.
func checkList(res *scenario.Response, chairs []*chair, exact bool, seen func(i int, latest int64)) error {
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return err
	}
	i, wrong := 0, error(nil)
	r.Array(func() {
		w := readWireISU(&r)
		if wrong == nil && r.Err() == nil && i < len(chairs) {
			if wrong = wantListed(res, &w, chairs[i], exact); wrong == nil && seen != nil {
				seen(i, w.latest.ts)
			}
		}
		i++
	})
	if err := verify.EndJSON(res, &r); err != nil {
		return err
	}
	if i != len(chairs) {
		return scenario.Wrong(res, "list-length", "%d ISU, want %d", i, len(chairs))
	}
	return wrong
}

// wantListed compares one item of the list.
func wantListed(res *scenario.Response, w *wireISU, c *chair, exact bool) error {
	if err := wantISU(res, "list", w, c); err != nil {
		return err
	}
	if !w.listed {
		return scenario.Wrong(res, "list-latest", "latest_isu_condition of %s is missing", c.uuid)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if w.hasLatest {
		if _, err := wantPosted(res, "list", &w.latest, c); err != nil {
			return err
		}
		c.seen.saw(w.latest.ts, time.Now())
	}
	if !exact {
		return nil
	}
	want := int64(0)
	if n := c.past.len(); n > 0 {
		want = unixOf(c.past.times[n-1])
	}
	if w.latest.ts != want {
		return scenario.Wrong(res, "list-latest", "latest condition of %s is of %d, want %d", c.uuid, w.latest.ts, want)
	}
	return nil
}
