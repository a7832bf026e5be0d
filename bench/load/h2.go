package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
)

// goalH2 is the largest allowed ratio of iikanji's CPU per checked request to
// h2load's, which checks nothing.
const goalH2 = 1.5

// An h2Form is one shape of the load over HTTP/2.
type h2Form struct {
	tls            bool
	conns, streams int
}

func (f h2Form) String() string {
	what := "without TLS"
	if f.tls {
		what = "TLS 1.3"
	}
	return fmt.Sprintf("%s, %d connections, %d streams each", what, f.conns, f.streams)
}

// compareH2 runs iikanji and h2load in turn and prints a table.
func compareH2(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "iikanji-bench-load-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	nginx, err := startNginx(ctx, dir)
	if err != nil {
		return err
	}
	defer nginx.stop()
	fmt.Printf("HTTP/2, 1 KiB, generator on core %d, nginx on core %d, medians of %d rounds\n\n", genCore, targetCore, o.rounds)
	fmt.Printf("%-45s %12s %12s  %s\n", "load", "iikanji µs", "h2load µs", "CPU over h2load's")
	for _, f := range []h2Form{{false, 16, 10}, {false, 64, 1}, {true, 16, 10}, {true, 64, 1}} {
		j := &job{url: nginx.h2, want: nginx.want, dir: dir, time: o.time}
		if f.tls {
			j.url = nginx.h2TLS
		}
		pair := []*tool{engineH2(f), h2load(f)}
		for _, t := range pair {
			if t.bin, err = t.build(); err != nil {
				return fmt.Errorf("%s: %w (apt-get install nghttp2-client)", t.name, err)
			}
		}
		for round := range o.rounds {
			for i := range pair {
				t := pair[(i+round)%2]
				m, err := measure(ctx, t, j)
				if err != nil {
					return fmt.Errorf("running %s: %w", t.name, err)
				}
				t.runs = append(t.runs, m)
			}
		}
		cpu := func(m measured) float64 { return m.cpu }
		r := ratios(pair[0], pair[1])
		word := "holds"
		if median(r) > goalH2 {
			word = "DOES NOT HOLD"
		}
		fmt.Printf("%-45v %12.2f %12.2f  %s  goal ≤ %.2f %s\n", f, pair[0].medianOf(cpu), pair[1].medianOf(cpu), spread(r), goalH2, word)
	}
	return nil
}

func engineH2(f h2Form) *tool {
	return &tool{name: "iikanji", checks: true, build: self,
		args: func(j *job) []string {
			return []string{"-role", "engine", "-url", j.url, "-time", j.time.String(), "-want", j.want,
				"-conns", strconv.Itoa(f.conns), "-streams", strconv.Itoa(f.streams)}
		},
		count: func(_ *job, out []byte) (int64, error) {
			var run iikanji.Run
			err := json.Unmarshal(out, &run)
			return run.Load.Requests, err
		}}
}

func h2load(f h2Form) *tool {
	return &tool{name: "h2load", build: installed("h2load"),
		args: func(j *job) []string {
			return []string{"-t1", "-c" + strconv.Itoa(f.conns), "-m" + strconv.Itoa(f.streams), "-D" + strconv.Itoa(int(j.time.Seconds())), j.url}
		},
		count: pattern(`(\d+) succeeded`)}
}

// writeCertificate writes a certificate that signs itself, and its key.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	for _, b := range []pem.Block{{Type: "CERTIFICATE", Bytes: cert}, {Type: "PRIVATE KEY", Bytes: secret}} {
		name := map[string]string{"CERTIFICATE": "cert.pem", "PRIVATE KEY": "key.pem"}[b.Type]
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&b), 0o600); err != nil {
			return fmt.Errorf("writing the certificate: %w", err)
		}
	}
	return nil
}
