package sshdial

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sessions serves a connection of SSH, and hands on each session that was started.
func sessions(t *testing.T, conn net.Conn, started chan<- ssh.Channel) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Error(err)
		return
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Error(err)
		return
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		t.Error(err)
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		ch, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range requests {
				_ = r.Reply(true, nil)
				started <- ch
			}
		}()
	}
}

// shellOf is a shell at a server of SSH on loopback, and the server's end of it.
func shellOf(t *testing.T) (net.Conn, ssh.Channel) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	started := make(chan ssh.Channel, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			sessions(t, conn, started)
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	mux, channels, requests, err := ssh.NewClientConn(conn, l.Addr().String(), &ssh.ClientConfig{User: "isucon", HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Client: ssh.NewClient(mux, channels, requests)}
	s, err := c.shell(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, <-started
}

// TestWriteWhileClosing: a ping may be on its way when a connection is closed. The race detector
// looks at both.
func TestWriteWhileClosing(t *testing.T) {
	s, far := shellOf(t)
	go func() {
		_, _ = io.Copy(io.Discard, far)
		_ = far.Close()
	}()
	writing, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			if _, err := s.Write([]byte("ping")); err != nil {
				return
			}
			if n == 0 {
				close(writing)
			}
		}
	}()
	<-writing
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-ended // with an error
}

// TestCloseWithoutReader: a write that the far end never takes does not hold Close, and ends with
// it.
func TestCloseWithoutReader(t *testing.T) {
	s, _ := shellOf(t)
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		close(begun)
		_, err := s.Write(make([]byte, 64<<20)) // more than any window
		ended <- err
	}()
	<-begun
	_ = s.Close() // the far end did not end in time: whatever the connection says
	if err := <-ended; err == nil {
		t.Error("the write succeeded without a reader")
	}
}
