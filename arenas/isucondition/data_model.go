package isucondition

import (
	"crypto/md5"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
)

// T0 is the virtual time at which a run begins: 2021-08-08 00:00:00 JST. All
// initial data is older.
var T0 = time.Date(2021, 8, 8, 0, 0, 0, 0, JST)

// JST is the time zone of the app, its database and the days of graphs. It is a
// fixed offset, so that no zone files are needed.
var JST = time.FixedZone("Asia/Tokyo", 9*60*60)

// Sizes of the lists and of the image pool.
const (
	Characters = 25
	Images     = 350
)

// Flags are the bad states of one condition. No flag means a good condition.
type Flags uint8

// Each flag is one bit of the index of a condition's message.
const (
	Broken     Flags = 1
	Overweight Flags = 2
	Dirty      Flags = 4
)

// String returns the condition in the form that the app stores and sends.
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

// Condition returns String from a table, without allocation.
func (f Flags) Condition() string { return conditionStrings[f&7] }

// ParseFlags reads a condition string. ok is false for any text other than the
// eight that String returns.
func ParseFlags(s string) (f Flags, ok bool) {
	for f, c := range conditionStrings {
		if s == c {
			return Flags(f), true
		}
	}
	return 0, false
}

// Level returns the severity of a condition: info without flags, critical with all
// three.
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

// A Level is the severity of a condition.
type Level uint8

// The levels, in ascending severity.
const (
	UnknownLevel Level = iota
	Info
	Warning
	Critical
)

var levelNames = [...]string{"unknown", "info", "warning", "critical"}

// String returns the level's name in the API.
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

// A Condition is one condition report of one ISU.
type Condition struct {
	Timestamp int64 // Unix seconds, virtual; unique and increasing per ISU
	IsSitting bool
	Flags     Flags
	Message   string
}

// Level returns the condition's severity.
func (c Condition) Level() Level { return c.Flags.Level() }

// MD5 is the sum of an image's bytes.
type MD5 = [md5.Size]byte

// An ISU is one registered chair of the initial data.
type ISU struct {
	ID        int    // the app's id: order of registration, from 1
	UUID      string // given by JIA
	Name      string
	Image     MD5    // of the icon
	Character string // one of Labels
	CreatedAt time.Time
	// Conditions are in ascending order of time.
	Conditions []Condition
}

// A User owns ISUs. The initial data lists users in order of creation.
type User struct {
	ID        string // jia_user_id
	CreatedAt time.Time
	ISUs      []ISU // in ascending order of ID
}

// Data is the initial data in the benchmarker's form.
type Data struct {
	Users []User
	// Pool holds the prepared icons that ISUs are registered with; see Image.
	Pool []Image
	// NoImage is the default icon of an ISU that was registered without an image.
	NoImage Image
	// Assets are the static files: first "/" (index.html), then the files that it
	// references, then those that scripts load (Scripted).
	Assets []Asset
}

// Image returns one icon of the pool. i may be any non-negative number.
func (d *Data) Image(i int) Image { return d.Pool[i%len(d.Pool)] }

// An Image is an icon: a JPEG and its MD5 sum.
type Image struct {
	Bytes []byte
	MD5   MD5
}

// newImage returns an icon with its sum.
func newImage(b []byte) Image { return Image{Bytes: b, MD5: md5.Sum(b)} }

// An Asset is one static file that the target must serve unchanged.
type Asset struct {
	Path string // such as "/assets/index.0a1b2c3d.js"; "/" for index.html
	verify.Sum
	Scripted bool // not referenced by index.html but loaded by its script
}

// newAsset returns the asset of a static file.
func newAsset(path string, body []byte, scripted bool) Asset {
	return Asset{Path: path, Sum: verify.SumOf(body), Scripted: scripted}
}

// Message returns the message of an ISU's character in a state. character is an
// index of Labels.
func Message(character int, f Flags) string { return messages[character][f&7] }

// CharacterOf returns the index of a label in Labels; -1 for an unknown label.
func CharacterOf(label string) int {
	for i, l := range Labels {
		if l == label {
			return i
		}
	}
	return -1
}
