package mine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
)

// maxBody limits the body of a request, in bytes: a thousand coins need fewer.
const maxBody = 64 << 10

// readBody decodes a body: one JSON value without unknown fields.
func readBody(r *http.Request, into any) *Refusal {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(415, 415, "unsupported media type, only [application/json] are allowed")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return refuse(400, 400, "reading the body: %v", err)
	}
	if len(body) > maxBody {
		return refuse(400, 400, "the body is too long")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return refuse(422, codeRequired, "body in body is required")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse(400, 400, "parsing body failed: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(400, 400, "parsing body failed: more than one value")
	}
	return nil
}

// required returns the first refusal of fields that must be there and not below a least value.
func required(fields ...field6) *Refusal {
	for _, f := range fields {
		if f.value == nil {
			return refuse(422, codeRequired, "%s in body is required", f.name)
		}
	}
	for _, f := range fields {
		switch {
		case *f.value < f.least:
			return refuse(422, codeLeast, "%s in body should be greater than or equal to %d", f.name, f.least)
		case f.most > 0 && *f.value > f.most:
			return refuse(422, codeMost, "%s in body should be less than or equal to %d", f.name, f.most)
		}
	}
	return nil
}

// A field6 is a field of a request with its schema; a refusal by it has a code of 6xx.
type field6 struct {
	name        string
	value       *int
	least, most int // most is 0 for none
}

// depthMost is the largest depth that the schema allows.
const depthMost = 100

// noLeast is for fields without a least value.
const noLeast = -1 << 62

func readArea(r *http.Request) (Area, *Refusal) {
	var in struct {
		PosX, PosY, SizeX, SizeY *int
	}
	if ref := readBody(r, &in); ref != nil {
		return Area{}, ref
	}
	if ref := required(field6{"posX", in.PosX, 0, 0}, field6{"posY", in.PosY, 0, 0}); ref != nil {
		return Area{}, ref
	}
	a := Area{PosX: *in.PosX, PosY: *in.PosY} // a size that is left out is 0
	for _, s := range []struct {
		name string
		from *int
		to   *int
	}{{"sizeX", in.SizeX, &a.SizeX}, {"sizeY", in.SizeY, &a.SizeY}} {
		if s.from == nil {
			continue
		}
		if ref := required(field6{s.name, s.from, 1, 0}); ref != nil {
			return Area{}, ref
		}
		*s.to = *s.from
	}
	return a, nil
}

func readSpade(r *http.Request) (spade, *Refusal) {
	var in struct {
		LicenseID, PosX, PosY, Depth *int
	}
	if ref := readBody(r, &in); ref != nil {
		return spade{}, ref
	}
	if ref := required(field6{"licenseID", in.LicenseID, noLeast, 0}, field6{"posX", in.PosX, 0, 0}, field6{"posY", in.PosY, 0, 0},
		field6{"depth", in.Depth, 1, depthMost}); ref != nil {
		return spade{}, ref
	}
	return spade{*in.LicenseID, *in.PosX, *in.PosY, *in.Depth}, nil
}

func readTreasure(r *http.Request) (string, *Refusal) {
	var id *string
	if ref := readBody(r, &id); ref != nil {
		return "", ref
	}
	if id == nil {
		return "", refuse(422, codeRequired, "args in body is required")
	}
	return *id, nil
}

func readCoins(r *http.Request) ([]int, *Refusal) {
	var coins []int
	if ref := readBody(r, &coins); ref != nil {
		return nil, ref
	}
	if len(coins) > walletMost {
		return nil, refuse(422, codeMostItems, "args in body should have at most %d items", walletMost)
	}
	sorted := slices.Sorted(slices.Values(coins))
	if len(slices.Compact(sorted)) < len(coins) {
		return nil, refuse(422, codeUnique, "args in body shouldn't contain duplicates")
	}
	return coins, nil
}
