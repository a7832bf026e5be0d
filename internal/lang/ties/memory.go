package ties

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/packages"
)

// A holder is a variable or a field that keeps a value between requests.
type holder struct {
	obj    types.Object
	pkg    *packages.Package
	writes []use
	reads  int // in requests, other than by its own writes
}

// A use is where a body writes a holder.
type use struct {
	body body
	node ast.Node
	memo bool
}

// memory lists what requests both write and read in the process.
func (s *source) memory() (out []Tie) {
	s.findLiving()
	all := map[types.Object]*holder{}
	var order []types.Object
	for _, b := range s.bodies {
		s.uses(b, func(obj types.Object) *holder {
			if all[obj] == nil {
				all[obj] = &holder{obj: obj, pkg: b.pkg}
				order = append(order, obj)
			}
			return all[obj]
		})
	}
	for _, obj := range order {
		h := all[obj]
		if len(h.writes) == 0 || h.reads == 0 || s.foreign(h) || !slices.ContainsFunc(h.writes, func(u use) bool { return !u.memo }) {
			continue
		}
		pos := s.fset.PositionFor(obj.Pos(), false)
		for _, u := range h.writes[:1] {
			out = append(out, Tie{Kind: kindOfName(obj.Name()), File: pos.Filename, Line: pos.Line, Name: obj.Name(), Func: u.body.name})
		}
	}
	return out
}

var sessionName = regexp.MustCompile(`(?i)session|logged.?in|login`)

func kindOfName(name string) Kind {
	if sessionName.MatchString(name) {
		return Sessions
	}
	return Memory
}

// findLiving finds the types of the app whose values outlive a request.
func (s *source) findLiving() {
	var add func(t types.Type)
	add = func(t types.Type) {
		named := namedOf(t)
		if named == nil || s.living[named.Obj()] {
			return
		}
		s.living[named.Obj()] = true
		if st, ok := named.Underlying().(*types.Struct); ok {
			for v := range st.Fields() {
				add(v.Type())
			}
		}
	}
	for _, p := range s.all {
		for _, name := range p.Types.Scope().Names() {
			if v, ok := p.Types.Scope().Lookup(name).(*types.Var); ok {
				add(v.Type())
			}
		}
	}
	for _, b := range s.starts {
		literals := requestLiterals(b.pkg, b.code)
		ast.Inspect(b.code, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && slices.Contains(literals, lit) {
				return false
			}
			switch n := n.(type) {
			case *ast.CompositeLit:
				if t := b.pkg.TypesInfo.TypeOf(n); t != nil {
					add(t)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "new" && len(n.Args) == 1 {
					if t := b.pkg.TypesInfo.TypeOf(n.Args[0]); t != nil {
						add(t)
					}
				}
			case *ast.ValueSpec:
				if n.Type != nil {
					if t := b.pkg.TypesInfo.TypeOf(n.Type); t != nil {
						add(t)
					}
				}
			}
			return true
		})
	}
}

// holderOf is the variable or field that an expression is a part of, if it outlives the
// request: a package variable, a variable of the function around the literal that answers, or
// a field of a receiver that does.
func (s *source) holderOf(b body, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := b.pkg.TypesInfo.Uses[e].(*types.Var)
		if !ok || v.IsField() {
			return nil
		}
		if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return v
		}
		if v.Pos() < b.node.Pos() || v.Pos() > b.node.End() { // of the function around
			if v != b.recv {
				return v
			}
		}
	case *ast.IndexExpr:
		return s.holderOf(b, e.X)
	case *ast.SliceExpr:
		return s.holderOf(b, e.X)
	case *ast.StarExpr:
		return s.holderOf(b, e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return s.holderOf(b, e.X)
		}
	case *ast.SelectorExpr:
		sel := b.pkg.TypesInfo.Selections[e]
		if sel == nil {
			if v, ok := b.pkg.TypesInfo.Uses[e.Sel].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v // of another package of the app
			}
			return s.holderOf(b, e.X)
		}
		if sel.Kind() != types.FieldVal {
			return nil
		}
		return s.fieldOf(b, e, sel)
	}
	return nil
}

// fieldOf is a field of a receiver that outlives the request, or the holder that it is in.
func (s *source) fieldOf(b body, e *ast.SelectorExpr, sel *types.Selection) types.Object {
	root := ast.Unparen(e.X)
	for {
		next, ok := root.(*ast.SelectorExpr)
		if !ok {
			break
		}
		root = ast.Unparen(next.X)
	}
	if id, ok := root.(*ast.Ident); ok && b.recv != nil && b.pkg.TypesInfo.Uses[id] == b.recv {
		if named := namedOf(b.recv.Type()); named != nil && s.living[named.Obj()] && pointer(b.recv.Type(), sel.Obj().Type()) {
			return sel.Obj()
		}
		return nil
	}
	return s.holderOf(b, e.X)
}

// pointer reports whether a write by a receiver outlives its method: by a pointer, or into a
// map that the copy shares.
func pointer(recv, field types.Type) bool {
	if _, ok := types.Unalias(recv).(*types.Pointer); ok {
		return true
	}
	switch field.Underlying().(type) {
	case *types.Map, *types.Pointer:
		return true
	}
	return false
}

// storePath are imports with containers in the process; serverPath are such with a server.
var (
	storePath  = regexp.MustCompile(`^(sync|sync/atomic|container/(list|ring|heap))$|(?i)(cache|lru|ttl|concurrent-map|cmap|xsync|haxmap|otter|ristretto|memory)`)
	serverPath = regexp.MustCompile(`(?i)memcache|redis|rueidis|valkey|dragonfly|sql`)
)

// mutators are methods of such containers that change them, and returning are those of them
// whose result shows what was there.
var (
	mutators  = []string{"Store", "LoadOrStore", "LoadAndDelete", "Delete", "Swap", "CompareAndSwap", "CompareAndDelete", "Add", "And", "Or", "Set", "SetDefault", "SetWithTTL", "Put", "Push", "PushBack", "PushFront", "Insert", "Remove", "Clear", "Purge", "Flush", "Increment", "Decrement", "Replace", "Forget", "IncrementInt", "IncrementInt64", "Upsert", "Del", "MSet", "SetIfAbsent"}
	returning = []string{"LoadOrStore", "LoadAndDelete", "Swap", "CompareAndSwap", "CompareAndDelete", "Increment", "IncrementInt", "IncrementInt64", "Decrement", "SetIfAbsent"}
)

// contains reports whether an object is a container of another module, in the process.
func (s *source) contains(p *packages.Package, obj types.Object) bool {
	importPath, name := outside(p, s.typing[obj])
	if importPath == "" || serverPath.MatchString(importPath) || importPath == "sync" && name != "Map" {
		return false
	}
	return storePath.MatchString(importPath)
}

// foreign reports whether a holder is a value of another module that is no container, such
// as a pool of connections.
func (s *source) foreign(h *holder) bool {
	importPath, _ := outside(s.pkgOf(h.obj, h.pkg), s.typing[h.obj])
	if importPath == "" || s.contains(s.pkgOf(h.obj, h.pkg), h.obj) {
		return false
	}
	switch types.Unalias(h.obj.Type()).Underlying().(type) {
	case *types.Basic:
		b, _ := types.Unalias(h.obj.Type()).Underlying().(*types.Basic)
		return b.Kind() == types.Invalid && !plainResult(importPath)
	case *types.Map, *types.Slice, *types.Struct:
		return false
	}
	return true
}

// plainResult reports whether functions of a package return plain values: their type is
// unknown here.
func plainResult(importPath string) bool {
	return slices.Contains([]string{"time", "strings", "strconv", "os", "fmt"}, importPath)
}

// pkgOf is the package in which an object is declared.
func (s *source) pkgOf(obj types.Object, otherwise *packages.Package) *packages.Package {
	for _, p := range s.all {
		if p.Types == obj.Pkg() {
			return p
		}
	}
	return otherwise
}
