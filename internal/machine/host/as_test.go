package host

import (
	"context"
	"testing"
)

// A wrapped host hides the further methods of the one that it wraps.
type wrapped struct{ Host }

func (w wrapped) Unwrap() Host { return w.Host }

// A lossy host may lose its connection.
type lossy struct {
	Local
	made *int
}

func (l lossy) Reconnect(context.Context) error { *l.made++; return nil }

// TestReconnectWrapped: the connection of a host is made again also where the host is wrapped, as
// the machines of a site are; a host that has none is always connected.
func TestReconnectWrapped(t *testing.T) {
	made := 0
	for _, h := range []Host{lossy{made: &made}, wrapped{lossy{made: &made}}, wrapped{wrapped{lossy{made: &made}}}} {
		if err := Reconnect(t.Context(), h); err != nil {
			t.Error(err)
		}
	}
	if made != 3 {
		t.Errorf("%d connections were made, want 3", made)
	}
	for _, h := range []Host{Local{}, wrapped{Local{}}, wrapped{}, nil} {
		if _, may := As[Reconnector](h); may || Reconnect(t.Context(), h) != nil {
			t.Errorf("%T cannot lose its connection", h)
		}
	}
}
