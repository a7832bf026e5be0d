package isucondition

import (
	"crypto/md5"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/arena/kit/verify"
)

// T0 is the virtual instant at which a run begins: 2021-08-08 00:00:00 JST.
// The initial data lies before it.
var T0 = time.Date(2021, 8, 8, 0, 0, 0, 0, JST)

// JST is the zone of the app, of its database and of the graphs' days. It is
// fixed, so that no machine needs zone files.
var JST = time.FixedZone("Asia/Tokyo", 9*60*60)

// Sizes of the lists and of the image pool.
const (
	Characters = 25
	Images     = 350
)

// Flags are the bad states of one condition; no flag is a good condition.
type Flags uint8

// The flags are the bits of the index of a condition's message.
const (
	Broken     Flags = 1
	Overweight Flags = 2
	Dirty      Flags = 4
)

// String is the condition as the app stores and sends it.
func (f Flags) String() string {
	return fmt.Sprintf("is_dirty=%t,is_overweight=%t,is_broken=%t", f&Dirty != 0, f&Overweight != 0, f&Broken != 0)
}

// conditionStrings holds the String of each of the eight combinations.
var conditionStrings = func() (all [8]string) {
	for f := range all {
		all[f] = Flags(f).String()
	}
	return all
}()

// Condition is String without building it anew.
func (f Flags) Condition() string { return conditionStrings[f&7] }

// ParseFlags reads a condition string; ok is false for any other text than
// the eight that String writes.
func ParseFlags(s string) (f Flags, ok bool) {
	for f, c := range conditionStrings {
		if s == c {
			return Flags(f), true
		}
	}
	return 0, false
}

// Level is the gravity of a condition: info without flags, critical with all three.
func (f Flags) Level() Level {
	switch f & 7 {
	case 0:
		return Info
	case Broken | Overweight | Dirty:
		return Critical
	default:
		return Warning
	}
}

// A Level is the gravity of a condition.
type Level uint8

// The levels, in order of gravity.
const (
	UnknownLevel Level = iota
	Info
	Warning
	Critical
)

var levelNames = [...]string{"unknown", "info", "warning", "critical"}

// String is the level's name in the API.
func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return levelNames[0]
	}
	return levelNames[l]
}

// ParseLevel reads a level's name.
func ParseLevel(s string) (Level, bool) {
	for l := Info; l <= Critical; l++ {
		if levelNames[l] == s {
			return l, true
		}
	}
	return UnknownLevel, false
}

// A Condition is one report of one ISU.
type Condition struct {
	Timestamp int64 // Unix seconds, virtual; unique and increasing per ISU
	IsSitting bool
	Flags     Flags
	Message   string
}

// Level is the condition's gravity.
func (c Condition) Level() Level { return c.Flags.Level() }

// MD5 is the sum of an image's bytes.
type MD5 = [md5.Size]byte

// An ISU is one registered chair of the initial data.
type ISU struct {
	ID        int    // the app's own, order of registration from 1
	UUID      string // given by JIA
	Name      string
	Image     MD5    // of the icon
	Character string // one of Labels
	CreatedAt time.Time
	// Conditions are in ascending order of time.
	Conditions []Condition
}

// A User owns ISUs. Users of the initial data are in the order of their creation in the data.
type User struct {
	ID        string // jia_user_id
	CreatedAt time.Time
	ISUs      []ISU // in ascending order of ID
}

// Data is the initial data as the benchmarker knows it.
type Data struct {
	Users []User
	// Pool holds the prepared icons that ISUs are registered with; see Image.
	Pool []Image
	// NoImage is the icon of an ISU that was registered without one.
	NoImage Image
	// Assets are the static files: "/" (index.html) first, then those that it
	// references, then those that scripts load (Scripted).
	Assets []Asset
}

// Image returns one icon of the pool; any non-negative i will do.
func (d *Data) Image(i int) Image { return d.Pool[i%len(d.Pool)] }

// An Image is an icon: a JPEG and its sum.
type Image struct {
	Bytes []byte
	MD5   MD5
}

// newImage sums an icon.
func newImage(b []byte) Image { return Image{Bytes: b, MD5: md5.Sum(b)} }

// An Asset is one static file, as it must be served.
type Asset struct {
	Path string // as in "/assets/index.0a1b2c3d.js"; "/" for index.html
	verify.Sum
	Scripted bool // not referenced by index.html but loaded by its script
}

// newAsset returns the asset of a static file.
func newAsset(path string, body []byte, scripted bool) Asset {
	return Asset{Path: path, Sum: verify.SumOf(body), Scripted: scripted}
}

// Message is what an ISU of a character says in a state. character is an
// index of Labels.
func Message(character int, f Flags) string { return messages[character][f&7] }

// CharacterOf finds the index of a label in Labels, -1 when there is no such character.
func CharacterOf(label string) int {
	for i, l := range Labels {
		if l == label {
			return i
		}
	}
	return -1
}
