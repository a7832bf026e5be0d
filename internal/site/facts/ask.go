package facts

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// mostAsked is how long a server is asked without a deadline of the context.
const mostAsked = 5 * time.Second

// dialToAsk connects to a server that is asked and nothing else. The connection has a deadline.
func dialToAsk(ctx context.Context, h host.Host, network, address string) (net.Conn, error) {
	conn, err := h.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(mostAsked)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
