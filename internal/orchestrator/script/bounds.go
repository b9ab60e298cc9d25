package script

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The bounds of what a script may do.
const (
	maxInitSteps = 1 << 20     // of execution, outside of functions
	maxSteps     = 200_000_000 // of execution, in main, in a turn of a chain, in all items of a map
	maxValue     = 64 << 20    // bytes of one value that an operation makes
	maxFile      = 32 << 20    // bytes of a file that is read
	maxRange     = 10_000_000  // numbers in a range
	maxDepth     = 100         // lists in lists, of data that leaves the script
	maxBits      = 1 << 20     // of a whole number
	maxMaps      = 8           // in each other
	maxItems     = 1_000_000   // of a map
	maxIdle      = 100_000     // turns of a chain in a row that ask for nothing
	maxPrompt    = 8 << 20     // bytes of a question

	stepsBetween = 1 << 17   // looks at how much memory is left,
	bytesBetween = 256 << 20 // likewise
	maxResults   = 64 << 20  // bytes of results of a map, likewise
	resultBytes  = 1 << 10   // that a result counts as at least

	bytesAStep = 16 // that an operation goes through in the time of a step of execution

	elementBytes = 16 // that an element of a list takes
)

// A meter is what a thread has used.
type meter struct {
	most  uint64       // steps of execution
	bytes int64        // made since memory was last looked at
	room  func() error // whether there is memory left; nil if nobody looks
	ended bool         // a bound was reached
}

const meterLocal = "meter"

// newThread is a line of execution with bounds of its own.
func newThread(name string, steps uint64, room func() error) *starlark.Thread {
	m := &meter{most: steps, room: room}
	t := &starlark.Thread{Name: name, Print: func(*starlark.Thread, string) {}}
	t.SetLocal(meterLocal, m)
	t.SetMaxExecutionSteps(min(stepsBetween, steps))
	t.OnMaxSteps = func(t *starlark.Thread) {
		done := t.ExecutionSteps()
		if done >= m.most {
			m.ended = true
			t.Cancel(fmt.Sprintf("more than %d steps of execution: is this loop meant to end?", m.most))
			return
		}
		t.SetMaxExecutionSteps(min(done+stepsBetween, m.most))
		if err := m.look(); err != nil {
			t.Cancel(err.Error())
		}
	}
	return t
}

// again gives a thread that is at the end of its work as many steps as at the beginning.
func again(t *starlark.Thread) {
	if m, ok := t.Local(meterLocal).(*meter); ok {
		t.Steps = 0
		t.SetMaxExecutionSteps(min(stepsBetween, m.most))
	}
}

// reached reports whether a thread reached a bound of the whole script, so that others which
// do the same need not be tried.
func reached(t *starlark.Thread) bool {
	m, ok := t.Local(meterLocal).(*meter)
	return ok && m.ended
}

func (m *meter) look() error {
	m.bytes = 0
	if m.room == nil {
		return nil
	}
	err := m.room()
	m.ended = m.ended || err != nil
	return err
}

// work notes that a thread is about to do what takes as long as so many steps of execution.
func work(t *starlark.Thread, steps int64) { t.Steps += uint64(max(steps, 0)) }

// visit is how many steps of execution it takes to go through a value, without what is in its
// elements.
func visit(v starlark.Value) int64 {
	switch v := v.(type) {
	case starlark.String:
		return int64(len(v)) / bytesAStep
	case starlark.Bytes:
		return int64(len(v)) / bytesAStep
	case starlark.Mapping:
		return 20 * int64(max(starlark.Len(v), 0))
	case *starlark.Set:
		return 20 * int64(v.Len())
	case starlark.Sequence:
		return 4 * int64(v.Len())
	}
	return 0
}

// charge notes that a thread is about to make so much.
func charge(t *starlark.Thread, bytes int64) error {
	if bytes > maxValue {
		return fmt.Errorf("this would take more than %d MB", maxValue>>20)
	}
	work(t, bytes/bytesAStep)
	m, ok := t.Local(meterLocal).(*meter)
	if !ok {
		return nil
	}
	if m.bytes += bytes; m.bytes > bytesBetween {
		return m.look()
	}
	return nil
}

// predeclare is what scripts find defined beyond the language itself.
func predeclare() starlark.StringDict {
	names := starlark.StringDict{
		"json": json.Module,
		"math": math.Module,

		guardedBinary:  starlark.NewBuiltin("operator", binary),
		guardedInPlace: starlark.NewBuiltin("operator", inPlace),
		guardedElement: starlark.NewBuiltin("operator", element),
		guardedMethod:  starlark.NewBuiltin("method", method),
		"getattr":      starlark.NewBuiltin("getattr", getattr),
		"range":        wrapped("range", boundRange),
		"str":          wrapped("str", boundPrinted),
		"repr":         wrapped("repr", boundPrinted),
		"hash":         wrapped("hash", boundPrinted),
		"list":         wrapped("list", boundElements),
		"tuple":        wrapped("tuple", boundElements),
		"dict":         wrapped("dict", boundElements),
		"set":          wrapped("set", boundElements),
		"sorted":       wrapped("sorted", boundSorted),
		"int":          wrapped("int", boundDigits),
		"min":          wrapped("min", boundVisited),
		"max":          wrapped("max", boundVisited),
		"any":          wrapped("any", boundVisited),
		"all":          wrapped("all", boundVisited),
		"reversed":     wrapped("reversed", boundElements),
		"enumerate":    wrapped("enumerate", boundElements),
		"zip":          wrapped("zip", boundElements),
		"print":        starlark.NewBuiltin("print", logBuiltin),
	}
	for _, b := range builtins {
		names[b.name] = starlark.NewBuiltin(b.name, b.call)
	}
	return names
}

// wrapped is a function of the language that is looked at before it is called.
func wrapped(name string, bound func(t *starlark.Thread, args starlark.Tuple) error) *starlark.Builtin {
	original := starlark.Universe[name]
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := bound(t, args); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return starlark.Call(t, original, args, kwargs)
	})
}

func boundRange(_ *starlark.Thread, args starlark.Tuple) error {
	made, err := starlark.Call(new(starlark.Thread), starlark.Universe["range"], args, nil)
	if err != nil {
		return nil // which the call says itself
	}
	if n := starlark.Len(made); n > maxRange {
		return fmt.Errorf("this has %d numbers, and a range may have %d", n, maxRange)
	}
	return nil
}

func boundPrinted(t *starlark.Thread, args starlark.Tuple) error {
	n, err := formatted("", 1, args...)
	if err != nil {
		return err
	}
	return charge(t, n)
}

func boundElements(t *starlark.Thread, args starlark.Tuple) error {
	for _, arg := range args {
		work(t, 4*visit(arg))
	}
	return charge(t, 4*elementBytes*int64(sum(args, starlark.Len)))
}

// boundVisited is for functions that only look at all elements.
func boundVisited(t *starlark.Thread, args starlark.Tuple) error {
	for _, arg := range args {
		work(t, visit(arg))
	}
	return nil
}

// boundSorted counts what is compared: all elements several times.
func boundSorted(t *starlark.Thread, args starlark.Tuple) error {
	for _, arg := range args {
		for v := range elements(arg) {
			work(t, 16*(visit(v)+4))
		}
	}
	return boundElements(t, args)
}

// boundDigits bounds whole numbers that are read.
func boundDigits(t *starlark.Thread, args starlark.Tuple) error {
	for _, arg := range args {
		if s, ok := starlark.AsString(arg); ok && len(s) > maxBits/4 {
			return fmt.Errorf("%d digits are more than a whole number may have", len(s))
		}
	}
	return nil
}

// binary is x + y, x * y or x % y, a comparison, or in.
func binary(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return operate(t, args[0], args[1], args[2])
}

// inPlace is x += y and its like, for the value of x: a list is extended.
func inPlace(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if list, ok := args[1].(*starlark.List); ok && tokenOf(args[0]) == syntax.PLUS {
		more, ok := args[2].(starlark.Iterable)
		if !ok {
			return operate(t, args[0], args[1], args[2]) // which says what is wrong
		}
		if err := charge(t, elementBytes*int64(list.Len()+max(starlark.Len(more), 0))); err != nil {
			return nil, err
		}
		extend, err := list.Attr("extend")
		if err != nil {
			return nil, err
		}
		if _, err := starlark.Call(t, extend, starlark.Tuple{more}, nil); err != nil {
			return nil, err
		}
		return list, nil
	}
	return operate(t, args[0], args[1], args[2])
}

// element is x[i] += y and its like.
func element(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	op, x, i, y := args[0], args[1], args[2], args[3]
	var old starlark.Value
	switch x := x.(type) {
	case starlark.Mapping:
		v, found, err := x.Get(i)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fmt.Errorf("key %s not in %s", i, x.Type())
		}
		old = v
	case starlark.Indexable:
		n, err := starlark.AsInt32(i)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			n += x.Len()
		}
		if n < 0 || n >= x.Len() {
			return nil, fmt.Errorf("%s index %s out of range [%d:%d]", x.Type(), i, -x.Len(), x.Len()-1)
		}
		old, i = x.Index(n), starlark.MakeInt(n)
	default:
		return nil, fmt.Errorf("unhandled index operation %s[%s]", x.Type(), i.Type())
	}
	v, err := inPlace(t, b, starlark.Tuple{op, old, y}, nil)
	if err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case starlark.HasSetKey:
		return starlark.None, x.SetKey(i, v)
	case starlark.HasSetIndex:
		n, _ := starlark.AsInt32(i)
		return starlark.None, x.SetIndex(n, v)
	}
	return nil, fmt.Errorf("%s value does not support item assignment", x.Type())
}

func tokenOf(v starlark.Value) syntax.Token {
	n, _ := starlark.AsInt32(v)
	return syntax.Token(n)
}

// operate is an operation whose result is looked at before it is made.
func operate(t *starlark.Thread, operator, x, y starlark.Value) (starlark.Value, error) {
	op := tokenOf(operator)
	var bytes int64
	switch op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		work(t, min(visit(x), visit(y)))
		same, err := starlark.Compare(op, x, y)
		return starlark.Bool(same), err
	case syntax.IN, syntax.NOT_IN:
		if _, hashed := y.(starlark.Mapping); !hashed {
			work(t, visit(y))
		}
		return starlark.Binary(op, x, y)
	case syntax.PLUS:
		bytes = sizeOf(x) + sizeOf(y)
	case syntax.STAR:
		if n, ok := x.(starlark.Int); ok {
			if _, too := y.(starlark.Int); too {
				return multiplied(x, y)
			}
			x, y = y, starlark.Value(n) // which is the same
		}
		if n, ok := y.(starlark.Int); ok {
			times, fits := n.Int64()
			if size := sizeOf(x); size > 0 && (!fits && n.Sign() > 0 || times > maxValue/size) {
				return nil, fmt.Errorf("%s * %s would take more than %d MB", x.Type(), n, maxValue>>20)
			} else if times > 0 {
				bytes = size * times
			}
		}
	case syntax.PERCENT:
		if s, ok := starlark.AsString(x); ok {
			values, places := starlark.Tuple{y}, 1
			switch y := y.(type) {
			case starlark.Tuple:
				values = y
			case starlark.Mapping: // each of its values may be named many times
				places = strings.Count(s, "%")
			}
			var err error
			if bytes, err = formatted(s, places, values...); err != nil {
				return nil, err
			}
		}
	}
	if err := charge(t, bytes); err != nil {
		return nil, err
	}
	return starlark.Binary(op, x, y)
}

func multiplied(x, y starlark.Value) (starlark.Value, error) {
	a, b := x.(starlark.Int), y.(starlark.Int)
	if _, small := a.Int64(); !small {
		if a.BigInt().BitLen()+b.BigInt().BitLen() > maxBits {
			return nil, fmt.Errorf("the product has more than %d bits", maxBits)
		}
	}
	return starlark.Binary(syntax.STAR, x, y)
}

// sizeOf is how many bytes a value takes that operations make longer, without what its
// elements take.
func sizeOf(v starlark.Value) int64 {
	switch v := v.(type) {
	case starlark.String:
		return int64(len(v))
	case starlark.Bytes:
		return int64(len(v))
	case starlark.Sequence:
		return elementBytes * int64(v.Len())
	}
	return 0
}

// method is a method that is looked at before it is called.
func method(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	name, _ := starlark.AsString(args[1])
	return methodOf(args[0], name)
}

func methodOf(recv starlark.Value, name string) (starlark.Value, error) {
	var original starlark.Value
	var err error
	if h, ok := recv.(starlark.HasAttrs); ok {
		original, err = h.Attr(name)
	}
	if err != nil {
		return nil, err
	}
	if original == nil {
		return nil, fmt.Errorf("%s has no .%s field or method", recv.Type(), name)
	}
	bound, guarded := methods[name]
	if _, callable := original.(starlark.Callable); !guarded || !callable {
		return original, nil
	}
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		bytes, err := bound(recv, args, kwargs)
		if err == nil {
			err = charge(t, bytes)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return starlark.Call(t, original, args, kwargs)
	}), nil
}

// getattr finds methods as x.name does.
func getattr(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var of starlark.Value
	var name string
	var otherwise starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &of, &name, &otherwise); err != nil {
		return nil, err
	}
	v, err := methodOf(of, name)
	switch {
	case err == nil:
		return v, nil
	case otherwise != nil:
		return otherwise, nil
	}
	return nil, fmt.Errorf("%s: %w", b.Name(), err)
}

// elements are those of a value that has some.
func elements(v starlark.Value) iter.Seq[starlark.Value] {
	if i, ok := v.(starlark.Iterable); ok {
		return starlark.Elements(i)
	}
	return func(func(starlark.Value) bool) {}
}

var (
	errDeep = fmt.Errorf("this is nested more than %d deep", maxDepth)
	errLong = fmt.Errorf("this is longer than %d MB when it is written out", maxValue>>20)
)

// printedLen is about how long a value is when it is written out. What is nested too deeply to be
// written, or holds so many references to the same that it would be endless, is an error.
func printedLen(v starlark.Value) (int64, error) {
	total := int64(0)
	err := addPrinted(&total, v, 0)
	return total, err
}

func addPrinted(total *int64, v starlark.Value, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	switch v := v.(type) {
	case starlark.String:
		*total += int64(len(v)) + 2
	case starlark.Bytes:
		*total += 4 * int64(len(v))
	case starlark.Int:
		*total += 20
		if _, small := v.Int64(); !small {
			*total += int64(v.BigInt().BitLen()) / 3
		}
	case starlark.IterableMapping:
		if err := addEntries(total, v, depth+1); err != nil {
			return err
		}
	case starlark.Indexable: // a list, a tuple or a range
		*total += 2
		for i := range v.Len() {
			if err := addPrinted(total, v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case starlark.Sequence:
		if err := addElements(total, v, depth+1); err != nil {
			return err
		}
	default:
		*total += 24
	}
	if *total += 2; *total > maxValue {
		return errLong
	}
	return nil
}

func addEntries(total *int64, v starlark.IterableMapping, depth int) error {
	*total += 2
	for k, e := range starlark.Entries(v) {
		if err := errors.Join(addPrinted(total, k, depth), addPrinted(total, e, depth)); err != nil {
			return err
		}
	}
	return nil
}

func addElements(total *int64, v starlark.Sequence, depth int) error {
	*total += 2
	for e := range starlark.Elements(v) {
		if err := addPrinted(total, e, depth); err != nil {
			return err
		}
	}
	return nil
}
