package host

import (
	"context"
	"fmt"
)

// A LostError is the error of a call to a host that is not connected, or whose connection
// ended in the call. Sent: the call may have been carried out.
type LostError struct {
	Host string
	Sent bool
	Err  error
}

func (e *LostError) Error() string {
	if e.Sent {
		return fmt.Sprintf("the connection to %s was lost in a call, whose effect is unknown: %v", e.Host, e.Err)
	}
	return fmt.Sprintf("the connection to %s is lost: %v", e.Host, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// A Reconnector is a host whose connection may be lost, and made again.
type Reconnector interface {
	Host
	// Reconnect connects again if the connection is lost, and tries it as long as the site
	// says. The host is then the same machine, which may have rebooted. Files and locks that
	// were open are lost.
	Reconnect(ctx context.Context) error
}

// Reconnect connects again to a host whose connection may be lost, also to one that is wrapped;
// others are always connected.
func Reconnect(ctx context.Context, h Host) error {
	if r, ok := As[Reconnector](h); ok {
		return r.Reconnect(ctx)
	}
	return nil
}
