package stack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// certificateLife is how long a certificate is valid. A new one is made at each start.
const certificateLife = 30 * 24 * time.Hour

// makeCertificates makes a key and a certificate that signs itself for each service
// over TLS, in the folder that is emptied before each start.
func (s *Stack) makeCertificates() error {
	for _, svc := range s.arena.Services {
		if !svc.TLS {
			continue
		}
		if err := s.makeCertificate(s.places.Service(svc.Name)); err != nil {
			return fmt.Errorf("making the certificate of %s: %w", svc.Name, err)
		}
	}
	return nil
}

func (s *Stack) makeCertificate(at arena.Place) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // at most 20 bytes (RFC 5280, 4.1.2.2)
	if err != nil {
		return err
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: s.arena.Name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife), // a clock may be set back a little
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		path string
		mode os.FileMode
		pem.Block
	}{{at.Cert, 0o644, pem.Block{Type: "CERTIFICATE", Bytes: cert}}, {at.Key, 0o640, pem.Block{Type: "PRIVATE KEY", Bytes: secret}}} {
		if err := os.WriteFile(f.path, pem.EncodeToMemory(&f.Block), f.mode); err != nil {
			return err
		}
		if err := s.dir.as.share(f.path); err != nil {
			return err
		}
	}
	return nil
}

// Authority returns the authority of the certificate with which the entry speaks
// HTTPS, nil if it speaks HTTP.
func (s *Stack) Authority() (*x509.CertPool, error) {
	entry := s.places.Services[s.places.Entry]
	if !entry.TLS {
		return nil, nil
	}
	text, err := os.ReadFile(entry.Cert)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading the certificate: %s has none", entry.Cert)
	}
	return pool, nil
}
