// Command docstore is the document store of the app in Node.js: FerretDB, which
// speaks MongoDB's protocol and stores documents in SQLite files. It has the address
// DOCSTORE_ADDRESS and the folder DOCSTORE_DIR.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// pragma has each commit written, but not synced: MongoDB does not wait for the disk
// by default, either. A killed process loses nothing, a power cut the latest commits.
const pragma = "_pragma=synchronous(normal)"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "docstore:", err)
		os.Exit(1)
	}
}

// run answers clients until the process gets a signal to end.
func run() error {
	address, dir := os.Getenv("DOCSTORE_ADDRESS"), os.Getenv("DOCSTORE_DIR")
	if address == "" || dir == "" {
		return errors.New("DOCSTORE_ADDRESS or DOCSTORE_DIR is not set")
	}
	files := url.URL{Scheme: "file", Path: strings.TrimSuffix(dir, "/") + "/", RawQuery: pragma}
	store, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
		Handler:   "sqlite",
		SQLiteURL: files.String(),
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return store.Run(ctx)
}
