package isucondition

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The benchmarker's copy: a list of users, each with a map of its ISUs by UUID.
type (
	jsonUser struct {
		ID        string             `json:"jia_user_id"`
		CreatedAt time.Time          `json:"created_at"`
		ISUs      map[string]jsonISU `json:"isu"`
	}
	jsonISU struct {
		ID         int            `json:"id"`
		Name       string         `json:"name"`
		Image      MD5            `json:"image_file_hash"`
		Character  string         `json:"character"`
		CreatedAt  time.Time      `json:"created_at"`
		Conditions jsonConditions `json:"conditions"`
	}
	jsonConditions struct {
		Info     []jsonCondition `json:"info"`
		Warning  []jsonCondition `json:"warning"`
		Critical []jsonCondition `json:"critical"`
	}
	jsonCondition struct {
		Timestamp int64  `json:"timestamp"`
		IsSitting bool   `json:"is_sitting"`
		Condition string `json:"condition"`
		Message   string `json:"message"`
	}
)

// list returns the list that holds the conditions of a level.
func (c *jsonConditions) list(l Level) *[]jsonCondition {
	switch l {
	case Info:
		return &c.Info
	case Warning:
		return &c.Warning
	default:
		return &c.Critical
	}
}

// writeJSON writes the users in the form that the benchmarker reads.
func writeJSON(w io.Writer, users []User) error {
	list := make([]jsonUser, len(users))
	for i, u := range users {
		list[i] = jsonUser{ID: u.ID, CreatedAt: u.CreatedAt, ISUs: map[string]jsonISU{}}
		for _, isu := range u.ISUs {
			j := jsonISU{ID: isu.ID, Name: isu.Name, Image: isu.Image, Character: isu.Character, CreatedAt: isu.CreatedAt,
				Conditions: jsonConditions{Info: []jsonCondition{}, Warning: []jsonCondition{}, Critical: []jsonCondition{}}}
			for _, c := range isu.Conditions {
				l := j.Conditions.list(c.Level())
				*l = append(*l, jsonCondition{c.Timestamp, c.IsSitting, c.Flags.Condition(), c.Message})
			}
			list[i].ISUs[isu.UUID] = j
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(list)
}

// LoadData reads the benchmarker's copy of the initial data from the folder
// that Generate wrote.
func LoadData(dir string) (*Data, error) {
	path := filepath.Join(dir, initialFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	users, err := parseUsers(text)
	if err != nil {
		return nil, fmt.Errorf("reading the initial data %s: %w", path, err)
	}
	pool, err := loadPool(dir)
	if err != nil {
		return nil, err
	}
	return &Data{Users: users, Pool: pool, NoImage: newImage(webapp.MustRead("NoImage.jpg")), Assets: assets()}, nil
}

// parseUsers reads the JSON copy and restores the order of the database.
func parseUsers(text []byte) ([]User, error) {
	var list []jsonUser
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	users := make([]User, len(list))
	for i, u := range list {
		users[i] = User{ID: u.ID, CreatedAt: u.CreatedAt.In(JST)}
		for uuid, j := range u.ISUs {
			isu := ISU{ID: j.ID, UUID: uuid, Name: j.Name, Image: j.Image, Character: j.Character, CreatedAt: j.CreatedAt.In(JST)}
			for l := Info; l <= Critical; l++ {
				for _, c := range *j.Conditions.list(l) {
					flags, ok := ParseFlags(c.Condition)
					if !ok || flags.Level() != l {
						return nil, fmt.Errorf("condition %q of ISU %s is not of level %s", c.Condition, uuid, l)
					}
					isu.Conditions = append(isu.Conditions, Condition{c.Timestamp, c.IsSitting, flags, c.Message})
				}
			}
			slices.SortFunc(isu.Conditions, func(a, b Condition) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
			users[i].ISUs = append(users[i].ISUs, isu)
		}
		slices.SortFunc(users[i].ISUs, func(a, b ISU) int { return cmp.Compare(a.ID, b.ID) })
	}
	return users, nil
}

// loadPool reads the icons and compares them with the sums that Generate wrote.
func loadPool(dir string) ([]Image, error) {
	text, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return nil, fmt.Errorf("reading the sums of the icons: %w", err)
	}
	sums := strings.Fields(string(text))
	if len(sums) != Images {
		return nil, fmt.Errorf("reading the sums of the icons: %d of them, want %d", len(sums), Images)
	}
	pool := make([]Image, len(sums))
	for i, want := range sums {
		body, err := os.ReadFile(imageFile(dir, i))
		if err != nil {
			return nil, fmt.Errorf("reading an icon: %w", err)
		}
		pool[i] = newImage(body)
		if got := hex.EncodeToString(pool[i].MD5[:]); got != want {
			return nil, fmt.Errorf("reading an icon: %s has MD5 %s, want %s", imageFile(dir, i), got, want)
		}
	}
	return pool, nil
}
