package bench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

const nginxH2 = `daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	client_max_body_size 100m;
	keepalive_requests 50;
	http2_max_concurrent_streams 5;
	server {
		listen 127.0.0.1:%[2]d http2;
		listen 127.0.0.1:%[3]d ssl http2;
		ssl_protocols TLSv1.3;
		ssl_certificate %[1]s/cert.pem;
		ssl_certificate_key %[1]s/key.pem;
		root %[1]s/www;
		gzip on;
		gzip_types *;
		location /upload { proxy_pass http://%[4]s; }
		location /limited { client_max_body_size 1k; proxy_pass http://%[4]s; }
	}
}
`

// certificate makes a certificate that signs itself, writes it with its key into a
// folder, and returns it as an authority.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	for name, text := range map[string][]byte{"cert.pem": public, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	return pool
}

// nginxSite starts nginx and returns its URLs without TLS and with it.
func nginxSite(t *testing.T) (plain, secure string, ca *x509.CertPool) {
	t.Helper()
	bin, err := exec.LookPath("nginx")
	if err != nil {
		if bin, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			tier.Needs(t, "nginx", err.Error())
		}
	}
	dir := t.TempDir()
	ca = certificate(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "www"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"small": 10, "large": 8 << 20} {
		if err := os.WriteFile(filepath.Join(dir, "www", name), []byte(strings.Repeat("0123456789", size/10)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	app := strings.TrimPrefix(web(t, echoLength), "http://")
	first := servertest.FreePorts(t, 2)
	ports := [2]int{first, first + 1}
	text := fmt.Sprintf(nginxH2, dir, ports[0], ports[1], app)
	if os.Getuid() == 0 {
		text = "user root;\n" + text // no other user may read the folder
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	address := "127.0.0.1:" + itoa(ports[1])
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	return "http://127.0.0.1:" + itoa(ports[0]), "https://" + address, ca
}

// TestH2Nginx: many requests at once over a limit of streams, connections that nginx
// ends after fifty requests, large bodies up and down, and a body that it refuses.
func TestH2Nginx(t *testing.T) {
	plain, secure, ca := nginxSite(t)
	for _, url := range []string{plain, secure} {
		o := scenario.ClientOptions{CA: ca, Gzip: true, MaxBody: 20 << 20, Protocol: scenario.HTTP2}
		if url == secure {
			o.Protocol = scenario.Negotiated
		}
		b, ctx := browse(t, url, o)
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				for range 40 {
					want(t, ctx, b, "/small", "0123456789")
				}
			})
		}
		wg.Wait()
		if n := b.s.dials.tried.Load(); n < 480/50 || n > 60 {
			t.Errorf("%s: %d connections for 480 requests, 50 each", url, n)
		}
		res, err := b.Do(ctx, &scenario.Request{Path: "/large"})
		if err != nil || len(res.Body) != 8<<20/10*10 || res.Protocol != scenario.HTTP2 {
			t.Fatalf("%s: down: %v", url, err)
		}
		res.Release()
		const size = 9 << 20
		res, err = b.Do(ctx, &scenario.Request{Method: "POST", Path: "/upload", Body: make([]byte, size)})
		if err != nil || string(res.Body) != strconv.Itoa(size) {
			t.Fatalf("%s: up: %v", url, err)
		}
		res.Release()
		res, err = b.Do(ctx, &scenario.Request{Method: "POST", Path: "/limited", Body: make([]byte, size)})
		if err != nil || res.Status != 413 {
			t.Fatalf("%s: a body that is too large: %v", url, err)
		}
		res.Release()
		want(t, ctx, b, "/small", "0123456789")
	}
}

// echoLength answers with the length of the request's body.
func echoLength(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	io.WriteString(w, strconv.FormatInt(n, 10))
}
