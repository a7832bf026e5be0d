package carry

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// peersWait is how long a server waits for enough of the others.
const peersWait = 2 * time.Minute

// Peers are the embedded servers of the processes of one portal: three, of which any two carry on.
type Peers struct {
	// Self is the address, HOST:PORT, at which this server listens for the others.
	Self string
	// Others are the addresses of the others.
	Others []string
	// TLS is for both directions: each server shows a certificate and demands one. nil is for tests
	// on loopback alone.
	TLS *tls.Config
	// advertise is the address that others are told, for tests with something between them.
	advertise string
}

// Clustered starts a NATS server inside the process as one of several. Streams and buckets have a
// copy on each. Clients reach it through the process alone: its port for them is one of loopback,
// behind a password that nobody has. faster divides the lives of keys: for tests.
func Clustered(ctx context.Context, folder string, p Peers, faster int) (Carrier, error) {
	host, port, err := splitAddress(p.Self)
	if err != nil {
		return nil, fmt.Errorf("the address of this server: %w", err)
	}
	free, err := net.Listen("tcp", p.Self) // the server's own error would not be told
	if err != nil {
		return nil, fmt.Errorf("listening for the other servers: %w", err)
	}
	if err := free.Close(); err != nil {
		return nil, fmt.Errorf("listening for the other servers: %w", err)
	}
	password := rand.Text()
	o := &server.Options{ServerName: p.Self, Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "portal", Password: password, JetStream: true, StoreDir: folder,
		SyncAlways: true, NoSigs: true, NoLog: true, MaxPayload: 1 << 20, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 8 << 30,
		Cluster: server.ClusterOpts{Name: "portal", Host: host, Port: port, Advertise: p.advertise, NoAdvertise: true, TLSConfig: p.TLS, TLSTimeout: 5, PingInterval: 5 * time.Second, MaxPingsOut: 2}}
	for _, address := range p.Others {
		if _, _, err := splitAddress(address); err != nil {
			return nil, fmt.Errorf("the address of another server: %w", err)
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: address})
	}
	s, err := server.NewServer(o)
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
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.Name("portal"), nats.UserInfo("portal", password))
	if err != nil {
		stop()
		return nil, fmt.Errorf("connecting to the embedded NATS server: %w", err)
	}
	j, err := together(ctx, nc, stop, faster, len(p.Others)+1)
	if err != nil {
		nc.Close()
		stop()
		return nil, err
	}
	return j, nil
}

// together makes the streams when enough servers are there.
func together(ctx context.Context, nc *nats.Conn, stop func(), faster, copies int) (*jetStream, error) {
	ctx, cancel := context.WithTimeout(ctx, peersWait)
	defer cancel()
	for {
		// Nobody answers a request that is sent before the servers have a leader.
		try, end := context.WithTimeout(ctx, 5*time.Second)
		j, err := newJetStream(try, nc, stop, faster, copies)
		end()
		if err == nil {
			return j, nil
		}
		timer := time.NewTimer(500 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("waiting for the other servers: %w", err)
		case <-timer.C:
		}
	}
}

// splitAddress reads HOST:PORT.
func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || host == "" || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("want HOST:PORT, not %q", address)
	}
	return host, port, nil
}
