package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/site/far"
)

// peerCommand is the argument with which this program is started on another host, as the far end
// of a connection to it. Standard input and output are the connection. The command is internal:
// no help text lists it.
const peerCommand = "peer"

// oneWriter is the file that one near end at a time may have for writing, ofSite names the
// site for which it does.
const (
	oneWriter = "/run/iikanji/lock"
	ofSite    = "/run/iikanji/site"
)

// maybePeer serves as the far end, and does not return, if the arguments ask for it.
func maybePeer(args []string) {
	if len(args) != 2 || args[1] != peerCommand {
		return
	}
	// A connection that ends must not end a write that is under way, and no line of ours
	// may get between the frames.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
	out := os.Stdout
	os.Stdout = os.Stderr
	conn := peer.Join(os.Stdin, out)
	if err := peer.Serve(context.Background(), conn, host.Local{}, peer.Options{Lock: oneWriter, Wait: 20 * time.Second, Claim: ofSite, Tasks: far.Tasks(time.Now)}); err != nil {
		fmt.Fprintf(os.Stderr, "iikanji peer: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}
