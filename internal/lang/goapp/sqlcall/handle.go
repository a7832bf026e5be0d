package sqlcall

import (
	"go/types"
	"slices"
	"strings"
	"sync"
)

// A statement may go through an interface of the app, or through a type parameter that
// such an interface constrains. It is a handle of database/sql or sqlx where only their
// types implement the interface. Where a type of the app does by methods of its own, as
// one that counts the calls, what a call does is not known.

// programs are the packages that are analysed together with a package. An analyzer sees
// one package, and a type that implements its interface may be in one that imports it.
var programs sync.Map // from *types.Package to []*types.Package

// Together notes that packages are of one program, until done is called.
func Together(pkgs []*types.Package) (done func()) {
	for _, p := range pkgs {
		programs.Store(p, pkgs)
	}
	return func() {
		for _, p := range pkgs {
			programs.Delete(p)
		}
	}
}

// judge notes what implements the interface that a call goes through.
func (r *Result) judge(c *Call) {
	t := r.pass.TypesInfo.TypeOf(c.Handle.Expr)
	if t == nil {
		return
	}
	face, ok := t.Underlying().(*types.Interface) // of a type parameter: its constraint
	if !ok {
		return
	}
	known, ok := r.faces[face]
	if !ok {
		known = r.implementers(face)
		r.faces[face] = known
	}
	c.Handle.Real, c.Handle.Faked = known.real && !known.faked, known.faked
}

// implementers are which types implement an interface.
type implementers struct {
	real  bool // a handle of database/sql or sqlx
	faked bool // a type with methods of its own
}

func (r *Result) implementers(face *types.Interface) (out implementers) {
	for _, t := range r.candidates() {
		switch {
		case !implements(t, face):
		case ofDatabase(t.Obj().Pkg()):
			out.real = true
		default:
			out.faked = out.faked || ownMethod(t, face)
		}
	}
	return out
}

// implements reports whether a type or a pointer to it implements an interface. Of a
// generic type it compares the names of the methods.
func implements(t *types.Named, face *types.Interface) bool {
	if t.TypeParams().Len() == 0 {
		return types.Satisfies(t, face) || types.Satisfies(types.NewPointer(t), face)
	}
	for m := range face.Methods() {
		if methodOf(t, m) == nil {
			return false
		}
	}
	return face.NumMethods() > 0
}

// ownMethod reports whether a type implements an interface by a method of its own, and
// not only by those of a handle that it embeds.
func ownMethod(t *types.Named, face *types.Interface) bool {
	for m := range face.Methods() {
		fn := methodOf(t, m)
		if fn == nil || !ofDatabase(fn.Pkg()) && !types.IsInterface(fn.Signature().Recv().Type()) {
			return true
		}
	}
	return false
}

func methodOf(t *types.Named, m *types.Func) *types.Func {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, m.Pkg(), m.Name())
	fn, _ := obj.(*types.Func)
	return fn
}

func ofDatabase(p *types.Package) bool {
	return p != nil && (p.Path() == sqlPath || p.Path() == sqlxPath)
}

// candidates are the types of the program, of the packages that this package imports
// directly, and of database/sql and sqlx, other than interfaces.
func (r *Result) candidates() []*types.Named {
	if r.types != nil {
		return r.types
	}
	r.types = []*types.Named{}
	seen := map[*types.Package]bool{}
	add := func(p *types.Package) {
		if !seen[p] {
			seen[p] = true
			r.types = typesIn(r.types, p.Scope())
		}
	}
	program := []*types.Package{r.pass.Pkg}
	if all, ok := programs.Load(r.pass.Pkg); ok {
		program = all.([]*types.Package)
	}
	for _, p := range program {
		add(p)
	}
	for _, p := range r.pass.Pkg.Imports() {
		if first, _, _ := strings.Cut(p.Path(), "/"); strings.Contains(first, ".") { // not of the standard library
			add(p)
		}
	}
	for _, p := range program {
		databases(p, map[*types.Package]bool{}, add)
	}
	return r.types
}

// databases finds database/sql and sqlx among the packages that a package depends on.
func databases(p *types.Package, seen map[*types.Package]bool, add func(*types.Package)) {
	if seen[p] {
		return
	}
	seen[p] = true
	if ofDatabase(p) {
		add(p)
	}
	for _, i := range p.Imports() {
		databases(i, seen, add)
	}
}

// typesIn appends the types that a scope declares, also within functions.
func typesIn(to []*types.Named, s *types.Scope) []*types.Named {
	for _, name := range s.Names() {
		t, ok := s.Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() || types.IsInterface(t.Type()) {
			continue
		}
		if named, ok := t.Type().(*types.Named); ok && !slices.Contains(to, named) {
			to = append(to, named)
		}
	}
	for c := range s.Children() {
		to = typesIn(to, c)
	}
	return to
}
