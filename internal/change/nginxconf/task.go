package nginxconf

import (
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/host"
)

// A task is one plan under way: the configuration's trees, which an editor
// changes, and what the change will be.
type task struct {
	ctx context.Context
	*conf
	site *change.Site
	name string // of the service
	svc  change.Service
	host host.Host // of the service

	// one is set if the remedy names a path or a server: no other may change.
	one     bool
	says    string // one sentence about the change
	weakens []iikanji.Promise
	proofs  []iikanji.Proof // of the remedy
	beside  []change.Edit   // of files beside the configuration
	scratch []string        // folders that nginx makes when it tests the configuration
}

// alone refuses an edit for one path or server that would change others: an
// edit of a file that nginx reads in several places.
func (t *task) alone() error {
	if !t.one {
		return nil
	}
	reads := t.Reads()
	for _, f := range t.Changed() {
		if reads[f] > 1 {
			return fmt.Errorf("the edit would change %s, which is included in %d places: all of them would change", f.Path, reads[f])
		}
	}
	return nil
}

// weaken adds promises that the change weakens.
func (t *task) weaken(ps ...iikanji.Promise) { t.weakens = promise.Join(t.weakens, ps) }

// proves reports whether an observed run proved a property for the remedy.
func (t *task) proves(p iikanji.Proof) bool { return slices.Contains(t.proofs, p) }

// spot finds the spot of a remedy's path in a server; "" is the only server
// that passes requests on.
func (t *task) spot(path, server string) (spot, error) {
	t.one = true
	http, err := t.http()
	if err != nil {
		return spot{}, err
	}
	s, err := t.server(server)
	if err != nil {
		return spot{}, err
	}
	return t.spotOf(http, s, path)
}
