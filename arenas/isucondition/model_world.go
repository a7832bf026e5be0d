package isucondition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A chair is the benchmarker's model of one ISU.
type chair struct {
	uuid, name string
	character  int // index in Labels
	icon       Image
	bare       bool // registered without an image: icon is the default one
	owner      *owner

	id   atomic.Int64         // the target's id; 0 until the target returned it
	walk atomic.Pointer[walk] // set when JIA has activated the ISU

	mu   sync.RWMutex // guards past
	past history

	seen sightings // by its owner
}

// An owner is a user of the target.
type owner struct {
	id string

	mu     sync.Mutex
	chairs []*chair // registered ones, newest id first, as the list shows them
}

// add inserts a registered chair in list order.
func (o *owner) add(c *chair) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, _ := slices.BinarySearchFunc(o.chairs, c.id.Load(), func(c *chair, id int64) int {
		return cmp.Compare(id, c.id.Load())
	})
	// A new slice, because callers of list may still use the old one.
	o.chairs = slices.Insert(slices.Clone(o.chairs), i, c)
}

// list returns the owner's registered chairs, newest id first. Callers must not
// change it.
func (o *owner) list() []*chair {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.chairs
}

// A world is the benchmarker's model of the target's correct content.
type world struct {
	data *Data

	mu     sync.RWMutex
	owners []*owner
	byUUID map[string]*chair
	posing []*chair // chairs that post
	late   []*chair // chairs of the users who arrive under load
	byID   atomic.Pointer[map[int64]*chair]
}

// newWorld returns a world with the initial data.
func newWorld(data *Data) (*world, error) {
	w := &world{data: data, byUUID: map[string]*chair{}}
	ids := map[int64]*chair{}
	for _, u := range data.Users {
		o := &owner{id: u.ID}
		for _, isu := range u.ISUs {
			c, err := w.initial(o, isu)
			if err != nil {
				return nil, fmt.Errorf("initial ISU %s: %w", isu.UUID, err)
			}
			ids[c.id.Load()] = c
			o.add(c)
			w.byUUID[c.uuid] = c
		}
		w.owners = append(w.owners, o)
	}
	w.byID.Store(&ids)
	return w, nil
}

// initial makes the chair of an ISU of the initial data.
func (w *world) initial(o *owner, isu ISU) (*chair, error) {
	c := &chair{uuid: isu.UUID, name: isu.Name, owner: o, character: CharacterOf(isu.Character)}
	if c.character < 0 {
		return nil, fmt.Errorf("unknown character %q", isu.Character)
	}
	c.icon.MD5 = isu.Image
	c.id.Store(int64(isu.ID))
	for _, k := range isu.Conditions {
		if k.Message != Message(c.character, k.Flags) {
			return nil, fmt.Errorf("message %q is not its character's", k.Message)
		}
		c.past.add(k.Timestamp, stateOf(k.IsSitting, k.Flags))
	}
	c.past.loaded = c.past.len()
	return c, nil
}

// admit makes an owner and the chairs that JIA can activate. No chair is
// registered yet.
func (w *world) admit(u futureUser) (*owner, []*chair) {
	o := &owner{id: u.id}
	var chairs []*chair
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range u.isus {
		c := w.chairOf(o, p)
		w.byUUID[c.uuid] = c
		chairs = append(chairs, c)
	}
	w.late = append(w.late, chairs...)
	w.owners = append(w.owners, o)
	return o, chairs
}

func (w *world) chairOf(o *owner, p futureISU) *chair {
	c := &chair{uuid: p.uuid, name: p.name, character: p.character, owner: o, bare: p.image < 0, icon: w.data.NoImage}
	if !c.bare {
		c.icon = w.data.Image(p.image)
	}
	return c
}

// registered records the id that the target gave to a chair.
func (w *world) registered(c *chair, id int64) {
	w.mu.Lock()
	ids := maps.Clone(*w.byID.Load())
	c.id.Store(id)
	ids[id] = c
	w.byID.Store(&ids)
	w.mu.Unlock()
	c.owner.add(c)
}

// poses adds a chair to those that post.
func (w *world) poses(c *chair) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.posing = append(w.posing, c)
}

// chair returns the chair with a UUID, or nil if JIA does not know it.
func (w *world) chair(uuid string) *chair {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byUUID[uuid]
}

// ids maps the target's ids to chairs. Callers must not change it.
func (w *world) ids() map[int64]*chair { return *w.byID.Load() }

// arrivingLate lists the chairs of the users who arrive under load, in the order in
// which the seed offers them.
func (w *world) arrivingLate() []*chair {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.late
}

// active lists the chairs that post. Callers must not change it.
func (w *world) active() []*chair {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.posing
}

// seated lists the owners with at least one registered chair.
func (w *world) seated() []*owner {
	w.mu.RLock()
	defer w.mu.RUnlock()
	var some []*owner
	for _, o := range w.owners {
		if len(o.list()) > 0 {
			some = append(some, o)
		}
	}
	return some
}
