package tree

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// An Offer is a folder that a host serves once. It is a secret of the two hosts.
type Offer struct {
	Address string
	// Certificate is the SHA-256 of the server's certificate, which is made for this copy.
	Certificate [sha256.Size]byte
	// Token is what the client shows.
	Token [32]byte
}

// offerWait is how long a folder is offered before a client comes.
const offerWait = 30 * time.Second

// dialWait is how long the other host may take to accept a connection: a firewall may drop
// it silently.
const dialWait = 3 * time.Second

// OfferTree implements Host.
func (Local) OfferTree(ctx context.Context, dir, address string) (Offer, func() error, error) {
	var o Offer
	if ip := net.ParseIP(address); ip == nil || ip.IsUnspecified() {
		return o, nil, fmt.Errorf("%q is no address to serve a folder at", address)
	}
	certificate, err := oneTime()
	if err != nil {
		return o, nil, err
	}
	if _, err := rand.Read(o.Token[:]); err != nil {
		return o, nil, fmt.Errorf("making a token: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return o, nil, fmt.Errorf("serving a folder: %w", err)
	}
	o.Address, o.Certificate = l.Addr().String(), sha256.Sum256(certificate.Certificate[0])
	ended := make(chan error, 1)
	go func() {
		ended <- serveOnce(ctx, tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{certificate}}), l, dir, o.Token)
	}()
	return o, func() error { return <-ended }, nil
}

// oneTime makes a key and a certificate that are used once.
func oneTime() (tls.Certificate, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a certificate: %w", err)
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, public, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// serveOnce sends a folder to the first client that shows the token.
func serveOnce(ctx context.Context, l net.Listener, under net.Listener, dir string, token [32]byte) error {
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	if d, ok := under.(interface{ SetDeadline(time.Time) error }); ok {
		if err := d.SetDeadline(time.Now().Add(offerWait)); err != nil {
			return err
		}
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("waiting for the other host: %w", errors.Join(ctx.Err(), err))
		}
		have, err := greeted(c, token)
		if err != nil { // another one knocks
			c.Close()
			continue
		}
		end := context.AfterFunc(ctx, func() { c.Close() })
		err = pack(ctx, dir, have, c)
		end()
		return errors.Join(err, c.Close())
	}
}

// greeted reads the token and what the client has.
func greeted(c net.Conn, token [32]byte) (have Manifest, err error) {
	if err := c.SetDeadline(time.Now().Add(dialWait)); err != nil {
		return nil, err
	}
	var shown [32]byte
	if _, err := io.ReadFull(c, shown[:]); err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(shown[:], token[:]) != 1 {
		return nil, errors.New("another token")
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return have, gob.NewDecoder(io.LimitReader(c, 1<<30)).Decode(&have)
}

// TakeTree implements Host.
func (Local) TakeTree(ctx context.Context, dir string, o Offer) (Manifest, error) {
	have, err := list(dir)
	if err != nil {
		return nil, err
	}
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialWait}, Config: &tls.Config{MinVersion: tls.VersionTLS13,
		InsecureSkipVerify: true, // the certificate is compared as a whole, below
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) != 1 || sha256.Sum256(raw[0]) != o.Certificate {
				return errors.New("it shows another certificate")
			}
			return nil
		}}}
	c, err := d.DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("connecting to the host of the folder: %w", err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	var b bytes.Buffer
	b.Write(o.Token[:])
	if err := gob.NewEncoder(&b).Encode(have); err != nil {
		return nil, err
	}
	if _, err := c.Write(b.Bytes()); err != nil {
		return nil, fmt.Errorf("asking for the folder: %w", err)
	}
	return unpack(ctx, dir, c)
}
