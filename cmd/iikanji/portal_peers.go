package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/portal/carry"
)

// portalPeers are the portals of one database.
type portalPeers struct {
	Peers    []string `help:"Three portals of one database (--db): the addresses at which they reach each other, this one's first, as in 10.0.0.1:6222,10.0.0.2:6222,10.0.0.3:6222." placeholder:"HOST:PORT"`
	PeerCert string   `help:"Certificate of this portal for the others, as server and as client." type:"path" placeholder:"FILE"`
	PeerKey  string   `help:"Its key." type:"path" placeholder:"FILE"`
	PeerCA   string   `name:"peer-ca" help:"Certificate of the authority that signed those of the others." type:"path" placeholder:"FILE"`
}

// check refuses portals that could not trust each other or have no database in common.
func (p *portalPeers) check(db string) error {
	files := 0
	for _, name := range []string{p.PeerCert, p.PeerKey, p.PeerCA} {
		if name != "" {
			files++
		}
	}
	switch {
	case len(p.Peers) == 0 && files > 0:
		return usageError("--peer-cert, --peer-key and --peer-ca are for --peers")
	case len(p.Peers) == 0:
		return nil
	case len(p.Peers) != 3:
		return usageError("--peers: want three addresses, of which any two carry on")
	case db == "":
		return usageError("--peers: the portals need one database: --db or IIKANJI_PORTAL_DB")
	case files != 0 && files != 3:
		return usageError("--peer-cert, --peer-key and --peer-ca belong together")
	}
	for _, address := range p.Peers {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return usageError("--peers %s: want HOST:PORT", address)
		}
		if ip, err := netip.ParseAddr(host); files == 0 && (err != nil || !ip.IsLoopback()) {
			return usageError("--peers %s: without --peer-cert, --peer-key and --peer-ca the addresses have to be loopback ones", address)
		}
	}
	return nil
}

// carrier starts what carries a portal's messages.
func (p *portalPeers) carrier(ctx context.Context, dir string) (carry.Carrier, error) {
	folder := filepath.Join(dir, "nats")
	if len(p.Peers) == 0 {
		return carry.Embedded(ctx, folder, 1)
	}
	peers := carry.Peers{Self: p.Peers[0], Others: p.Peers[1:]}
	if p.PeerCert != "" {
		var err error
		if peers.TLS, err = p.trust(); err != nil {
			return nil, err
		}
	}
	return carry.Clustered(ctx, folder, peers, 1)
}

// trust is the mutual TLS of the portals.
func (p *portalPeers) trust() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(p.PeerCert, p.PeerKey)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate for the other portals: %w", err)
	}
	text, err := os.ReadFile(p.PeerCA)
	if err != nil {
		return nil, fmt.Errorf("reading the authority of the other portals: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading the authority of the other portals: %w", errors.New("the file has no certificate"))
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}, nil
}
