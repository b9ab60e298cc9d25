package script

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/table"
	"github.com/maker-mdap/maker/vote"
)

// A builtin is a function that scripts find defined.
type builtin struct {
	name     string
	params   []string // in order
	required int      // that many have to be given
	keywords bool     // it takes others by name, whatever they are called
	variadic bool     // it takes any number
	anywhere bool     // it may be called outside of functions too
	ends     []string // one of these last parameters has to be given, so that it ends

	// call reads its arguments, and refuses wrong ones, before it looks for the run that it is
	// called in: so a check can have them read.
	call func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
}

var builtins = []builtin{
	{name: "ask", params: slices.Concat([]string{"prompt"}, askParams), required: 1, call: askBuiltin},
	{name: "act", params: slices.Concat([]string{"task", "tools"}, askParams, []string{"max_moves"}), required: 2, call: actBuiltin},
	{name: "map", params: []string{"items", "f"}, required: 2, call: mapBuiltin},
	{name: "chain", params: []string{"state", "step", "times", "until"}, required: 2, ends: []string{"times", "until"}, call: chainBuiltin},
	{name: "call", params: []string{"tool"}, required: 1, keywords: true, call: callBuiltin},
	{name: "human", params: []string{"question", "options"}, required: 1, call: humanBuiltin},
	{name: "rows", params: []string{"path"}, required: 1, call: rowsBuiltin},
	{name: "read", params: []string{"path"}, required: 1, call: readBuiltin},
	{name: "log", variadic: true, call: logBuiltin},
	{name: "fail", variadic: true, anywhere: true, call: failBuiltin},
}

var (
	errEndless = errors.New("say when it ends: times = …, until = …, or both")
	errInside  = errors.New("it can be called on the main line only; inside of map and chain use for")
)

// Names are those of the functions that scripts find defined beyond the language itself.
func Names() []string {
	var names []string
	for _, b := range builtins {
		names = append(names, b.name)
	}
	return names
}

// mapBuiltin calls a function for each item, many at a time.
func mapBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var f starlark.Callable
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "items", &items, "f", &f); err != nil {
		return nil, err
	}
	s, err := scopeOf(t)
	if err != nil {
		return nil, err
	}
	list, err := s.itemsOf(items, f)
	if err != nil {
		return nil, err
	}
	key := s.key(t, "map", nil)
	own := s.step == onMainLine
	numbers := make([]int, len(list))
	for i := range numbers {
		if numbers[i] = s.step; own {
			numbers[i] = s.number(strings.TrimSuffix(flow.Branch(key, i), "/"))
		}
	}
	values, failures := make([]starlark.Value, len(list)), make([]error, len(list))
	var took []flow.Outcome
	var titles []string
	if !own {
		took, titles = make([]flow.Outcome, len(list)), make([]string, len(list))
	}
	results := make(chan struct{}, maxResults/resultBytes) // full once there is a look at memory due
	spent := make(chan struct{}, maxSteps/stepsBetween)
	err = s.flow.Parallel(key, len(list), func(i int, branch flow.Flow) error {
		if err := flow.Ended(branch); err != nil {
			return over(err)
		}
		in := s.within(branch, s.prefix+flow.Branch(key, i), numbers[i])
		in.known = newKnown() // others are beside it
		if in.spent == nil {
			in.spent = spent
		}
		t := in.thread(t.Name)
		v, output, err := called(t, b.Name(), f, list[i])
		if over, ok := errors.AsType[*overError](err); ok {
			return over
		}
		if !own {
			took[i], titles[i] = in.taken, in.title
		}
		if err != nil && reached(t) {
			return &boundError{&itemError{i, err}}
		}
		if err != nil { // the others go on: they are paid for, and a resume finds them done
			if failures[i] = err; own {
				in.fail(err)
			}
			return nil
		}
		if v.Freeze(); own {
			branch.Emit("completed", in.completed(output))
		}
		values[i] = v
		if err := s.hold(results, len(output)); err != nil {
			return &boundError{&itemError{i, err}}
		}
		return nil
	})
	if e, ok := errors.AsType[*boundError](err); ok {
		return nil, e.err
	}
	if err != nil {
		return nil, over(err)
	}
	for i := range took {
		s.add(&took[i])
		s.title = cmp.Or(s.title, titles[i])
	}
	if err := firstOf(failures); err != nil {
		return nil, err
	}
	return starlark.NewList(values), nil
}

// itemsOf are the items of a map, which its function cannot change.
func (s *scope) itemsOf(items starlark.Iterable, f starlark.Callable) ([]starlark.Value, error) {
	if s.depth >= maxMaps {
		return nil, fmt.Errorf("map: there are more than %d in each other", maxMaps)
	}
	list := slices.Collect(starlark.Elements(items))
	if len(list) > maxItems {
		return nil, fmt.Errorf("map: there are %d items, and there may be %d; maker map takes tables of any length", len(list), maxItems)
	}
	return list, freeze(starlark.Tuple{starlark.Tuple(list), f})
}

// hold notes that a result of so many bytes is kept, and looks at memory now and then.
func (s *scope) hold(results chan struct{}, bytes int) error {
	for range bytes/resultBytes + 1 {
		select {
		case results <- struct{}{}:
			continue
		default:
		}
		for range cap(results) { // others may be doing so too
			select {
			case <-results:
			default:
			}
		}
		if s.Room != nil {
			if err := s.Room(); err != nil {
				return err
			}
		}
	}
	return nil
}

// called is what a function makes of a value, also as data.
func called(t *starlark.Thread, by string, f starlark.Callable, value starlark.Value) (starlark.Value, json.RawMessage, error) {
	v, err := starlark.Call(t, f, starlark.Tuple{value}, nil)
	if err != nil {
		return nil, nil, err
	}
	output, err := toJSON(t, v)
	if err != nil {
		return nil, nil, fmt.Errorf("what the function of %s returns: %w", by, err)
	}
	return v, output, nil
}

// A boundError ends a map because an item reached a bound.
type boundError struct{ err error }

func (e *boundError) Error() string { return e.err.Error() }

// fail writes down that the step of a scope has no result.
func (s *scope) fail(err error) {
	e := event.StepFailed{Step: s.step, Status: string(flow.Failed), Reason: clip.Words(Describe(err), maxReason), Voting: s.taken.Voting, CostUSD: s.taken.CostUSD}
	if step, ok := errors.AsType[*stepError](err); ok {
		e.Status = string(step.status)
	}
	s.flow.Emit("failed", e)
}

const maxReason = 2000

// firstOf is the first of the failures of a map, which opens what all of them are about.
func firstOf(failures []error) error {
	var first error
	var open []string
	undecided := true
	for i, err := range failures {
		if err == nil {
			continue
		}
		if first == nil {
			first = &itemError{i, err}
		}
		step, ok := errors.AsType[*stepError](err)
		if undecided = undecided && ok && step.status == flow.Undecided; ok {
			open = append(open, step.open...)
		}
	}
	if step, ok := errors.AsType[*stepError](first); ok {
		step.open = open
		if !undecided {
			step.status = flow.Failed
		}
	}
	return first
}

// chainBuiltin calls a function with a state again and again. What it returns is the next
// state, and where a resume goes on.
func chainBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var state starlark.Value
	var step starlark.Callable
	times := -1
	var until starlark.Callable
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "state", &state, "step", &step, "times?", atLeast(0, &times), "until?", &until); err != nil {
		return nil, err
	}
	if times < 0 && until == nil {
		return nil, fmt.Errorf("chain: %w", errEndless)
	}
	s, err := scopeOf(t)
	if err != nil {
		return nil, err
	}
	if s.step != onMainLine {
		return nil, fmt.Errorf("chain: %w", errInside)
	}
	if err := freeze(step); err != nil {
		return nil, err
	}
	key := s.key(t, "chain", nil)
	turns, err := flow.Loop(s.flow, key)
	if err != nil {
		return nil, over(err)
	}
	at := turns.At()
	s.chained(t, key, state)
	if at.N == 0 {
		if at.State, err = toJSON(t, state); err != nil {
			return nil, fmt.Errorf("chain: its state: %w", err)
		}
	}
	// A state is data, whether it comes from the last turn or out of the log.
	if state, err = fromJSON(t, at.State); err != nil {
		return nil, err
	}
	s.steps += at.N
	var done event.StepCompleted
	in := s.within(nil, "", 0) // of one turn after the other: there may be a million of them
	in.known, in.untitled = s.known, true
	thread := in.thread(t.Name)
	idle := 0 // turns in a row that asked for nothing
	for n := at.N; times < 0 || n < times; n++ {
		if err := flow.Ended(s.flow); err != nil {
			return nil, over(err)
		}
		if until != nil {
			// It decides by the state alone: a resume does not ask it about turns that are over.
			ends, err := starlark.Call(newThread(t.Name, maxSteps, s.Room), until, starlark.Tuple{state}, nil)
			if err != nil {
				return nil, err
			}
			if ends.Truth() {
				break
			}
		}
		turn := flow.TurnKey(key, n)
		in.turn(turns.Turn(n), s.prefix+turn+"/", s.number(turn))
		again(thread)
		_, output, err := called(thread, b.Name(), step, state)
		if err != nil {
			if _, isOver := errors.AsType[*overError](err); !isOver {
				in.fail(err)
			}
			return nil, &itemError{n, err}
		}
		if idle++; len(in.counts) > 0 {
			idle = 0
		} else if idle > maxIdle {
			return nil, &itemError{n, errIdle}
		}
		done = in.completed(output)
		turns.Commit(n, &done)
		if state, err = fromJSON(t, output); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// chained tells whoever watches with what state a chain begins.
func (s *scope) chained(t *starlark.Thread, key string, state starlark.Value) {
	if s.Watch == nil {
		return
	}
	if first, err := toJSON(t, state); err == nil {
		s.Watch.Chained(s.prefix+key, first)
	}
}

var errIdle = fmt.Errorf("the last %d turns of this chain asked for nothing: is it meant to end? What code works out alone needs no turns: use for", maxIdle)

// callBuiltin calls a tool, once. Code decided on it, not a vote. Otherwise is what is taken if
// the person or a rule refuses the call, or the tool reports an error.
func callBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var tool string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, nil, 1, &tool); err != nil {
		return nil, fmt.Errorf("%w; what the tool is called with is given by name", err)
	}
	s, err := scopeOf(t)
	if err != nil {
		return nil, err
	}
	input := starlark.NewDict(len(kwargs))
	var otherwise starlark.Value
	for _, kv := range kwargs {
		if kv[0] == starlark.String("otherwise") {
			otherwise = kv[1]
			continue
		}
		if err := input.SetKey(kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	data, err := toJSON(t, input)
	if err != nil {
		return nil, err
	}
	intent, err := event.NewIntent(tool, data)
	if err != nil {
		return nil, err
	}
	key, err := s.keyOf(t, "call", intent)
	if err != nil {
		return nil, err
	}
	step, own := s.begin(key)
	result, err := s.flow.Perform(key, &flow.Effect{Step: step, Scope: s.scopeKey(key, own), Intent: intent, Voting: event.Voting{Strategy: vote.None}, By: event.ByCode})
	if err != nil {
		return nil, over(err)
	}
	output, answer := event.TextValue(result.Text), starlark.Value(starlark.String(result.Text))
	switch {
	case result.IsError && !result.Unknown && otherwise != nil:
		data, err := toJSON(t, otherwise)
		if err != nil {
			return nil, fmt.Errorf("call: otherwise: %w", err)
		}
		output, answer = event.JSONValue(data), otherwise
	case result.IsError || result.Unknown:
		failed := &stepError{step: step, status: flow.Failed, reason: fmt.Sprintf("%s: %s", tool, result.Text)}
		if result.Refused || result.Unknown { // the person may say more about it
			failed.open = []string{s.prefix + key}
		}
		return nil, s.failStep(key, own, failed, event.Voting{Strategy: vote.None}, nil)
	}
	if own {
		s.complete(key, event.StepCompleted{Step: step, Title: clip.Words(tool, maxTitle), By: event.ByCode, Output: output, Voting: event.Voting{Strategy: vote.None}})
	}
	return answer, nil
}

// scopeKey is the key of the step that a call belongs to, in the run.
func (s *scope) scopeKey(key string, own bool) string {
	if own {
		return key
	}
	return strings.TrimSuffix(s.prefix, "/")
}

// failStep writes down that a call that is a step by itself came to nothing.
func (s *scope) failStep(key string, own bool, e *stepError, v event.Voting, cost *float64) error {
	if own {
		failed := key + "/failed"
		if len(e.open) > 0 {
			e.open = append(e.open, s.prefix+failed)
		}
		s.flow.Emit(failed, event.StepFailed{Step: e.step, Status: string(e.status), Reason: e.reason, Voting: v, CostUSD: cost})
	} else if len(e.open) > 0 {
		e.open = append(e.open, s.prefix+"failed")
	}
	return e
}

// humanBuiltin asks the person, once.
func humanBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var question string
	var options starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "question", &question, "options?", &options); err != nil {
		return nil, err
	}
	q := &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: question, Free: true}
	if options != nil && options != starlark.None {
		var err error
		if q.Options, err = texts(options); err != nil {
			return nil, fmt.Errorf("human: options: %w", err)
		}
		q.Free = len(q.Options) == 0
	}
	s, err := scopeOf(t)
	if err != nil {
		return nil, err
	}
	key, err := s.keyOf(t, "human", q)
	if err != nil {
		return nil, err
	}
	var own bool
	q.Step, own = s.begin(key)
	answer, err := s.flow.Ask(key, q)
	if err != nil {
		return nil, over(err)
	}
	if own {
		s.complete(key, event.StepCompleted{
			Step: q.Step, Title: titleOf(question), By: event.ByAnswer, Output: event.TextValue(answer.Text), Voting: event.Voting{Strategy: vote.None},
		})
	}
	return starlark.String(answer.Text), nil
}

// readBuiltin looks at a file, once.
func readBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	l, err := look(t, b, args, kwargs)
	if err != nil {
		return nil, err
	}
	return starlark.String(l.text), nil
}

// A looked is a file that a script has looked at.
type looked struct {
	path, text string
	key        string // of the look, in the run
	step       int
}

// failed is why what was seen is of no use. A resume looks again.
func (l *looked) failed(what, why string) error {
	return &stepError{step: l.step, status: flow.Failed, reason: what + ": " + why, open: []string{l.key}}
}

func look(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (*looked, error) {
	var path string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &path); err != nil {
		return nil, err
	}
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return nil, fmt.Errorf("%s: %s is an address, want a file of the workspace", b.Name(), path)
	}
	s, err := scopeOf(t)
	if err != nil {
		return nil, err
	}
	key, err := s.keyOf(t, b.Name(), path)
	if err != nil {
		return nil, err
	}
	file, err := flow.ReadFile(s.flow, key, flow.File{Path: path, Most: maxFile})
	if err != nil {
		return nil, over(err)
	}
	l := &looked{path: path, text: file.Text, key: s.prefix + key, step: max(s.step, 0)}
	switch {
	case file.TooLarge > 0:
		return nil, l.failed(b.Name(), fmt.Sprintf("%s has %d MB, and a script reads at most %d: split it, or have `maker map` ask about each record of a table of any size",
			path, (file.TooLarge+1<<20-1)>>20, maxFile>>20))
	case file.Problem != "":
		return nil, l.failed(b.Name(), file.Problem)
	case file.MediaType == "inode/directory":
		return nil, l.failed(b.Name(), path+" is a folder, want a file")
	case file.MediaType != "text/plain":
		return nil, l.failed(b.Name(), fmt.Sprintf("%s is %s, want a text", path, file.MediaType))
	}
	return l, charge(t, int64(len(l.text)))
}

// rowsBuiltin looks at a table, once.
func rowsBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	l, err := look(t, b, args, kwargs)
	if err != nil {
		return nil, err
	}
	records, err := table.Read([]byte(l.text))
	if err != nil {
		return nil, l.failed(b.Name(), l.path+": "+err.Error())
	}
	var list []starlark.Value
	for _, r := range records {
		row, err := rowOf(t, r)
		if err != nil {
			return nil, fmt.Errorf("rows: line %d: %w", r.Line, err)
		}
		list = append(list, row)
	}
	return starlark.NewList(list), nil
}

// rowOf is a record as a mapping, with its columns in their order.
func rowOf(t *starlark.Thread, r table.Record) (starlark.Value, error) {
	row := starlark.NewDict(len(r.Columns))
	for _, column := range r.Columns {
		data, err := json.Marshal(r.Values[column])
		if err != nil {
			return nil, err
		}
		v, err := fromJSON(t, data)
		if err != nil {
			return nil, err
		}
		if err := row.SetKey(starlark.String(column), v); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// words are the arguments of log and fail as a text.
func words(t *starlark.Thread, args starlark.Tuple) (string, error) {
	var parts []string
	for _, v := range args {
		if s, ok := starlark.AsString(v); ok {
			parts = append(parts, s)
			continue
		}
		n, err := printedLen(v)
		if err == nil {
			err = charge(t, n)
		}
		if err != nil {
			return "", err
		}
		parts = append(parts, v.String())
	}
	return strings.Join(parts, " "), nil
}

// maxNote is how much a note of a script holds, in bytes.
const maxNote = 10_000

// logBuiltin writes a note into the log of the run.
func logBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackPositionalArgs(b.Name(), nil, kwargs, 0); err != nil {
		return nil, err
	}
	text, err := words(t, args)
	if err != nil {
		return nil, err
	}
	s, err := scopeOf(t)
	if err != nil {
		return nil, err
	}
	text = clip.Words(text, maxNote)
	key, err := s.keyOf(t, "log", text)
	if err != nil {
		return nil, err
	}
	s.flow.Emit(key, event.Noted{Step: s.at(), Text: text})
	return starlark.None, nil
}

// failBuiltin ends the script.
func failBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackPositionalArgs(b.Name(), nil, kwargs, 0); err != nil {
		return nil, err
	}
	text, err := words(t, args)
	if err != nil {
		return nil, err
	}
	return nil, errors.New(clip.Words(text, maxReason))
}
