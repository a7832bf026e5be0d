package promise

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// A Kept is an answer that is sent again without asking for it anew: by the
// client, or by a cache that several clients share.
type Kept struct {
	Expires string // nginx's expires; "" if it is not set
	Words   string // further words of Cache-Control
	Cached  bool   // nginx keeps it for other clients
	// FromApp: the application computes the answer, so it may be one client's own.
	FromApp bool
	// AppDecides: the value is used only where the application states nothing.
	AppDecides bool
	// SameForAll: an observed run proved that every client gets this answer.
	SameForAll bool
	// Purged: every request that may write drops the kept answers before its own answer
	// is sent. That nothing else changes them is not proven.
	Purged bool
	// Reset: the request that makes the data anew drops the kept answers before the end
	// of its own answer is sent; other writes do not.
	Reset bool
	// Unchanged: an observed run proved that no answer changed between two resets.
	Unchanged bool
}

// RevalidatedValues are the values of nginx's expires with which a client requests
// again each time.
var RevalidatedValues = []string{"", "-1", "epoch", "off"}

// revalidated reports whether a client asks again each time.
func (k Kept) revalidated() bool {
	for _, v := range RevalidatedValues {
		if k.Expires == v {
			return !strings.Contains(k.Words, "immutable") && !strings.Contains(k.Words, "stale-") && !strings.Contains(k.Words, "max-age")
		}
	}
	return false
}

// Promises lists the promises that keeping the answer weakens.
//
// An application's answer with a lifetime and without "private" may be stored
// by any proxy between nginx and the clients.
func (k Kept) Promises() []iikanji.Promise {
	var out []iikanji.Promise
	if k.Cached && (k.Purged || k.Reset && k.Unchanged) {
		out = append(out, iikanji.TestedOnly)
	} else if k.Cached || !k.revalidated() {
		out = append(out, iikanji.Freshness)
	}
	private := strings.Contains(k.Words, "private")
	public := strings.Contains(k.Words, "public")
	if k.FromApp && !k.SameForAll && (k.Cached || public || !k.revalidated() && !private) {
		out = append(out, iikanji.Privacy)
	}
	if k.FromApp && !k.AppDecides && (k.Expires != "" || k.Words != "") { // a no-store of the application is replaced
		out = append(out, iikanji.Freshness, iikanji.Privacy)
	}
	return Join(out)
}

// Page lists the promises that a file weakens that nginx sends for requests that
// the application answered. proven: the file is what the application sent.
func Page(proven bool) []iikanji.Promise {
	if proven {
		return nil
	}
	return []iikanji.Promise{iikanji.Freshness, iikanji.Availability}
}
