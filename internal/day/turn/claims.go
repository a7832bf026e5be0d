package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Claim is a finding that a person works on.
type Claim struct {
	Who string    `json:"who"`
	At  time.Time `json:"at"`
}

// claimsFile is the file with the claims, by what is claimed.
const claimsFile = "claims.json"

// maxClaims bounds the file.
const maxClaims = 500

type claimsDoc struct {
	Version int              `json:"version"`
	Claims  map[string]Claim `json:"claims"`
}

// Claims are what people work on, by what they claimed.
func (b *Book) Claims() (map[string]Claim, error) {
	var doc claimsDoc
	text, err := os.ReadFile(filepath.Join(b.Dir, claimsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Claim{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err == nil && doc.Version > Version {
		err = fmt.Errorf("it has version %d, this iikanji reads up to %d", doc.Version, Version)
	}
	if err != nil {
		return nil, fmt.Errorf("reading who works on what: %w", err)
	}
	return doc.Claims, nil
}

// Claim notes that a person works on something; "" for who frees it.
func (b *Book) Claim(ctx context.Context, what, who string) error {
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := b.Claims()
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]Claim{}
	}
	if _, has := all[what]; !has && len(all) >= maxClaims {
		return fmt.Errorf("%d findings are taken: free one first", len(all))
	}
	if who = Name(who); who == "" {
		delete(all, what)
	} else {
		all[what] = Claim{who, b.Now()}
	}
	text, err := json.MarshalIndent(claimsDoc{Version, all}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding who works on what: %w", err)
	}
	path := filepath.Join(b.Dir, claimsFile)
	if err = os.WriteFile(path+".tmp", append(text, '\n'), 0o600); err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return fmt.Errorf("keeping who works on what: %w", err)
	}
	return nil
}
