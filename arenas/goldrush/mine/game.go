package mine

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand"
	"sync"
	"time"
)

// Limits of the time that a request may wait for its ticks.
const (
	exploreMost = time.Second
	digMost     = 2 * time.Second
)

// cashFail is the share of cash requests that fail by chance, in percent.
const cashFail = 5

// A game is one world with its client's licences and coins.
type game struct {
	size     Size
	pay      []payout
	cpu      *cpu
	licenser *licenser
	buckets  map[string]*bucket
	seal     cipher.AEAD

	mu       sync.Mutex // guards what follows
	rand     *rand.Rand // of the world, and then of payouts and prices
	field    *field
	bank     *bank
	licenses licenses
	cashed   map[int]bool // by place
	cashRand *rand.Rand
	count    counts
	closed   bool // at the bell: nothing is paid any more
}

// counts are what a client got.
type counts struct {
	Dug    int `json:"dug"`    // treasures
	Cashed int `json:"cashed"` // treasures
	Free   int `json:"free"`   // licences
	Paid   int `json:"paid"`   // licences
	Spent  int `json:"spent"`  // coins
}

// rates are the limits of requests per second.
var rates = map[string]float64{"balance": 100, "list": 100, "license": 350, "explore": 1000, "dig": 1000, "cash": 300}

// newGame makes the world of a seed. Three generators begin with the seed.
func newGame(s Size, seed int64) (*game, error) {
	key := make([]byte, 32)
	if _, err := crand.Read(key); err != nil {
		return nil, fmt.Errorf("drawing a key: %w", err)
	}
	cypher, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("making a cipher: %w", err)
	}
	seal, err := cipher.NewGCM(cypher)
	if err != nil {
		return nil, fmt.Errorf("making a cipher: %w", err)
	}
	pay := payouts(s, valuesOf(s, seed))
	g := &game{size: s, pay: pay, cpu: &cpu{}, seal: seal, field: newField(s), bank: newBank(supply(s, pay)),
		licenses: licenses{most: s.Licenses, active: map[int]*License{}}, cashed: map[int]bool{}, buckets: map[string]*bucket{},
		rand:     rand.New(rand.NewSource(seed)),
		cashRand: rand.New(rand.NewSource(seed)),
		licenser: &licenser{rand: rand.New(rand.NewSource(seed)), timeouts: failTimeouts}}
	for name, rate := range rates {
		g.buckets[name] = &bucket{rate: rate}
	}
	s.generate(g.rand, g.field.put)
	return g, nil
}

// A Refusal is an answer that is an error.
type Refusal struct {
	Status  int    `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Codes of refusals beyond those of HTTP.
const (
	codeOutside   = 1000
	codeDepth     = 1001
	codeLicenses  = 1002
	codeUndug     = 1003
	codeRequired  = 602
	codeMost      = 608
	codeLeast     = 609
	codeUnique    = 610
	codeMostItems = 611
)

func refuse(status, code int, format string, args ...any) *Refusal {
	return &Refusal{status, code, fmt.Sprintf(format, args...)}
}

func (g *game) limited(bucket string) *Refusal {
	if g.buckets[bucket].take(time.Now()) {
		return nil
	}
	return refuse(429, 429, "too many requests")
}

// An Area is a rectangle of cells.
type Area struct {
	PosX  int `json:"posX"`
	PosY  int `json:"posY"`
	SizeX int `json:"sizeX"`
	SizeY int `json:"sizeY"`
}

func (g *game) explore(ctx context.Context, a Area) (int, *Refusal) {
	if r := g.limited("explore"); r != nil {
		return 0, r
	}
	// The product of sizes that a client sends may be larger than an int. Larger areas than the
	// field are refused, after the time of the whole field.
	area := min(max(a.SizeX, 0), g.size.X) * min(max(a.SizeY, 0), g.size.Y)
	if !g.cpu.use(ctx, ExploreTicks(area), exploreMost) {
		return 0, refuse(503, 503, "explore took too long")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.field.inside(a.PosX, a.PosY, a.SizeX, a.SizeY) {
		return 0, refuse(422, codeOutside, "wrong coordinates")
	}
	return g.field.explore(a.PosX, a.PosY, a.SizeX, a.SizeY), nil
}

// A spade is the request for a dig.
type spade struct{ license, x, y, depth int }

// dig returns the id of the treasure that was found. The licence is charged before
// coordinates and depth are looked at.
func (g *game) dig(ctx context.Context, s spade) (string, *Refusal) {
	if r := g.limited("dig"); r != nil {
		return "", r
	}
	if !g.cpu.use(ctx, DigTicks(s.depth), digMost) {
		return "", refuse(503, 503, "dig took too long")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.licenses.use(s.license) {
		return "", refuse(403, 403, "no such license")
	}
	if !g.field.inside(s.x, s.y, 1, 1) || s.depth > g.size.Depth {
		return "", refuse(422, codeOutside, "wrong coordinates")
	}
	place := s.x + g.size.X*s.y
	if s.depth != int(g.field.dug[place])+1 {
		return "", refuse(422, codeDepth, "wrong depth: %d", s.depth)
	}
	if !g.field.dig(s.x, s.y, s.depth) {
		return "", refuse(404, 404, "no treasure")
	}
	g.count.Dug++
	return g.sealed(place, s.depth), nil
}

// sealed makes the id of a treasure, which no client can read or forge.
func (g *game) sealed(place, depth int) string {
	plain := make([]byte, 48) // the length shows nothing of the place
	binary.LittleEndian.PutUint32(plain, uint32(place))
	plain[4] = byte(depth)
	nonce := make([]byte, g.seal.NonceSize())
	_, _ = crand.Read(nonce) // it never fails
	return base64.RawURLEncoding.EncodeToString(g.seal.Seal(nonce, nonce, plain, nil))
}

// opened reads the id of a treasure.
func (g *game) opened(id string) (place, depth int, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(id)
	n := g.seal.NonceSize()
	if err != nil || len(b) < n {
		return 0, 0, false
	}
	plain, err := g.seal.Open(nil, b[:n], b[n:], nil)
	if err != nil || len(plain) < 5 {
		return 0, 0, false
	}
	return int(binary.LittleEndian.Uint32(plain)), int(plain[4]), true
}

// cash pays for a treasure.
func (g *game) cash(ctx context.Context, id string) ([]int, *Refusal) {
	if r := g.limited("cash"); r != nil {
		return nil, r
	}
	g.mu.Lock()
	fails := g.cashRand.Intn(100) < cashFail
	g.mu.Unlock()
	if fails {
		return nil, refuse(503, 503, "service unavailable")
	}
	if !g.cpu.use(ctx, CashTicks, 0) {
		return nil, refuse(503, 503, "cash was cut")
	}
	place, depth, ok := g.opened(id)
	if !ok {
		return nil, refuse(500, 500, "the treasure is not readable")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if int(g.field.dug[place]) < depth {
		return nil, refuse(409, codeUndug, "treasure is not dug")
	}
	key := place*(Depths+1) + depth
	switch {
	case g.closed:
		return nil, refuse(503, 503, "cash was cut")
	case g.cashed[key]:
		return nil, refuse(404, 404, "no treasure")
	}
	p := g.pay[depth-1]
	coins := g.bank.earn(p.least + g.rand.Intn(p.most-p.least+1))
	if coins == nil {
		return nil, refuse(500, 500, "no coins are left")
	}
	g.cashed[key] = true
	g.count.Cashed++
	return coins, nil
}

// ask waits for the licence service.
func (g *game) ask(ctx context.Context, fail int) *Refusal {
	status, takes := g.licenser.call(fail)
	t := time.NewTimer(takes)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	if status == 200 {
		return nil
	}
	return refuse(status, status, "the license service failed")
}

func (g *game) listLicenses(ctx context.Context) ([]License, *Refusal) {
	if r := g.limited("list"); r != nil {
		return nil, r
	}
	if r := g.ask(ctx, failFree); r != nil {
		return nil, r
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.licenses.list(), nil
}

func (g *game) issueLicense(ctx context.Context, coins []int) (License, *Refusal) {
	if r := g.limited("license"); r != nil {
		return License{}, r
	}
	fail := failFree
	if len(coins) > 0 {
		fail = 0
	}
	if r := g.ask(ctx, fail); r != nil {
		return License{}, r
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.licenses.active) >= g.licenses.most {
		return License{}, refuse(409, codeLicenses, "no more active licenses allowed")
	}
	id := g.licenses.next // used up also by a licence that is not paid
	g.licenses.next++
	if !g.bank.spend(coins) {
		return License{}, refuse(402, 402, "the coins are not yours")
	}
	lic := &License{ID: id, Allowed: digs(len(coins), g.rand)}
	g.licenses.active[id] = lic
	if len(coins) == 0 {
		g.count.Free++
	} else {
		g.count.Paid++
		g.count.Spent += len(coins)
	}
	return *lic, nil
}

// A Balance is the state of a client's account.
type Balance struct {
	Balance int   `json:"balance"`
	Wallet  []int `json:"wallet"`
}

func (g *game) balance() (Balance, *Refusal) {
	if r := g.limited("balance"); r != nil {
		return Balance{}, r
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return Balance{g.bank.balance, g.bank.wallet()}, nil
}
