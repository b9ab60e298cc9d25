package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
	"github.com/maker-mdap/maker/usage"
)

func open(t *testing.T) *store.Folder {
	t.Helper()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func line(t *testing.T, e event.Event) json.RawMessage {
	t.Helper()
	raw, err := event.Record{Run: "r", Event: e}.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// steps are the steps that lines are about.
func steps(t *testing.T, list *[]string) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		rec, err := event.Decode(raw)
		if err != nil {
			return err
		}
		switch e := rec.Event.(type) {
		case event.StepStarted:
			*list = append(*list, fmt.Sprint(e.Step))
		case event.StepCompleted:
			*list = append(*list, fmt.Sprintf("%d after %d", e.Step, e.Spent.Calls))
		default:
			t.Errorf("an event of the type %s", rec.Event.Type())
		}
		return nil
	}
}

func put(t *testing.T, s store.Store, session, n int, numbers ...int) error {
	t.Helper()
	c := &wire.Chunk{Run: "r", Session: session, N: n}
	for _, step := range numbers {
		c.Lines = append(c.Lines, line(t, event.StepStarted{Step: step}))
	}
	return wire.PutChunk(t.Context(), s, c)
}

// TestSessions: a session has one owner, and what is written to one that is over does not count.
func TestSessions(t *testing.T) {
	ctx, s := t.Context(), open(t)
	begin := func(owner string, want int) {
		t.Helper()
		for range 2 { // whoever asks again gets the same
			if n, err := wire.BeginSession(ctx, s, "r", owner); err != nil || n != want {
				t.Fatalf("BeginSession(%s) = %d, %v, want %d", owner, n, err, want)
			}
		}
	}
	begin("a", 0)
	tail := wire.Tail{Store: s, Run: "r"}
	var followed []string
	read := func() {
		t.Helper()
		if err := tail.Read(ctx, steps(t, &followed)); err != nil {
			t.Fatal(err)
		}
	}
	for n, numbers := range [][]int{{0, 1}, {2}} {
		if err := put(t, s, 0, n, numbers...); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t, s, 0, 3, 4); err != nil { // there is a gap before it
		t.Fatal(err)
	}
	read()
	if diff := cmp.Diff([]string{"0", "1", "2"}, followed); diff != "" {
		t.Errorf("followed up to the gap: -want +got\n%s", diff)
	}
	begin("b", 1)
	if err := put(t, s, 0, 2, 3); err != nil { // too late
		t.Fatal(err)
	}
	if err := put(t, s, 1, 0, 10); err != nil {
		t.Fatal(err)
	}
	if err := put(t, s, 1, 0, 10); err != nil {
		t.Errorf("PutChunk(the same again) = %v", err)
	}
	if err := put(t, s, 1, 0, 11); !errors.Is(err, store.ErrTaken) {
		t.Errorf("PutChunk(another in its place) = %v, want %v", err, store.ErrTaken)
	}
	begin("c", 2)
	var got []string
	if err := wire.ReadSessions(ctx, s, "r", 2, steps(t, &got), func(wire.BlockRef) { t.Error("a block") }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "10"}, got); diff != "" {
		t.Errorf("ReadSessions(): -want +got\n%s", diff)
	}
}

// TestBlocks: the events of a block come where the run refers to it, with what the run had spent
// in all.
func TestBlocks(t *testing.T) {
	ctx, s := t.Context(), open(t)
	if _, err := wire.BeginSession(ctx, s, "r", "a"); err != nil {
		t.Fatal(err)
	}
	for piece, calls := range []int64{3, 6, 2} { // the third is another worker's, who counts from 0
		data, err := json.Marshal(wire.Lines{line(t, event.StepCompleted{Step: piece, Spent: usage.Spent{Calls: calls}})})
		if err == nil {
			err = s.Create(ctx, wire.PieceName("r", 7, piece), data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ref := &wire.BlockRef{N: 7, Pieces: 3, Bases: []wire.Base{{Piece: 0, Spent: usage.Spent{Calls: 100}}, {Piece: 2, Spent: usage.Spent{Calls: 106}}}}
	if err := wire.PutChunk(ctx, s, &wire.Chunk{Run: "r", Lines: wire.Lines{line(t, event.StepStarted{Step: 9})}, Block: ref}); err != nil {
		t.Fatal(err)
	}
	var got []string
	tail := wire.Tail{Store: s, Run: "r"}
	if err := tail.Read(ctx, steps(t, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"9", "0 after 103", "1 after 106", "2 after 108"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	ref.Pieces = 4
	if err := wire.ReadBlock(ctx, s, "r", *ref, func(json.RawMessage) error { return nil }); err == nil || !strings.Contains(err.Error(), "3 pieces, want 4") {
		t.Errorf("ReadBlock(a piece is missing) = %v, want that", err)
	}
}
