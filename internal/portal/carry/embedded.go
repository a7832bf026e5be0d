package carry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// startWait is how long the embedded server may take to be ready.
const startWait = 20 * time.Second

// Embedded starts a NATS server inside the process, which listens nowhere and keeps its
// streams in a folder. Every write of a file stream is synced: JetStream acknowledges before
// that by default. faster divides the lives of keys: for tests.
func Embedded(ctx context.Context, folder string, faster int) (Carrier, error) {
	s, err := server.NewServer(&server.Options{ServerName: "portal", DontListen: true, JetStream: true, StoreDir: folder,
		SyncAlways: true, NoSigs: true, NoLog: true, MaxPayload: 1 << 20, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 8 << 30})
	if err != nil {
		return nil, fmt.Errorf("making the embedded NATS server: %w", err)
	}
	go s.Start()
	stop := func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	if !s.ReadyForConnections(startWait) {
		stop()
		return nil, fmt.Errorf("starting the embedded NATS server: %w", errors.New("it is not ready"))
	}
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.Name("portal"))
	if err != nil {
		stop()
		return nil, fmt.Errorf("connecting to the embedded NATS server: %w", err)
	}
	j, err := newJetStream(ctx, nc, stop, faster, 1)
	if err != nil {
		nc.Close()
		stop()
		return nil, err
	}
	return j, nil
}
