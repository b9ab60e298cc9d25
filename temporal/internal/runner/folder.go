package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/records"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// chunkBytes is how large the pieces are in which a log is put into the store.
const chunkBytes = 1 << 20

// Import puts the run of a folder into the store, as its first session, and returns its name
// and what it began with. A run that is there already stays as it is.
func Import(ctx context.Context, s store.Store, dir string) (run string, submitted event.TaskSubmitted, err error) {
	var lines wire.Lines
	n, size := 0, 0
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		err := wire.PutChunk(ctx, s, &wire.Chunk{Run: run, N: n, Lines: lines})
		n, size, lines = n+1, 0, nil
		return err
	}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return run, submitted, err
		}
		rec, err := line.Decode()
		if err != nil {
			return run, submitted, err
		}
		if rec.Event, err = event.WithValues(rec.Event, func(v event.Value) (event.Value, error) { return runlog.Load(dir, v) }); err != nil {
			return run, submitted, err
		}
		raw, err := rec.AppendJSON(nil)
		if err != nil {
			return run, submitted, err
		}
		if line.Seq == 0 {
			var ok bool
			if submitted, ok = rec.Event.(event.TaskSubmitted); !ok {
				return run, submitted, fmt.Errorf("the log in %s begins with %s", dir, rec.Event.Type())
			}
			run = rec.Run
			if err := importing(ctx, s, run, raw); err != nil {
				return run, submitted, err
			}
		}
		if t := rec.Event.Type(); submitted.Form == event.FormRecords && (t == event.TypeStepCompleted || t == event.TypeStepFailed) {
			return run, submitted, fmt.Errorf("%s has answers already, and a table that was begun stays where it is: go on with maker resume, or start anew", run)
		}
		lines, size = append(lines, raw), size+len(raw)
		if size >= chunkBytes {
			if err := flush(); err != nil {
				return run, submitted, err
			}
		}
	}
	if run == "" {
		return run, submitted, fmt.Errorf("there is no run in %s", dir)
	}
	if err := flush(); err != nil {
		return run, submitted, err
	}
	if submitted.Form == event.FormRecords {
		err = importRecords(ctx, s, run, dir, submitted)
	}
	return run, submitted, err
}

// importRecords puts the records of a run into the store, block by block.
func importRecords(ctx context.Context, s store.Store, run, dir string, submitted event.TaskSubmitted) error {
	p, err := kind.ReadMapParams(submitted.Params)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, records.File)
	if err := records.Check(path, p.Summary); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	at := bounds(p.Records)
	for block := range len(at) - 1 {
		var data []byte
		for range at[block+1] - at[block] {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			data = append(data, line...)
		}
		if err := store.Put(ctx, s, wire.RecordsName(run, block), data); err != nil {
			return err
		}
	}
	return nil
}

// exportRecords writes the records of a run into its folder.
func exportRecords(ctx context.Context, s store.Store, run, dir string, submitted event.TaskSubmitted) (err error) {
	p, err := kind.ReadMapParams(submitted.Params)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, records.File))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for block := range len(bounds(p.Records)) - 1 {
		data, err := s.Get(ctx, wire.RecordsName(run, block))
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// importing begins a run in the store that was begun elsewhere.
func importing(ctx context.Context, s store.Store, run string, first []byte) error {
	if err := store.Put(ctx, s, wire.Submitted(run), first); err != nil {
		return err
	}
	n, err := wire.BeginSession(ctx, s, run, imported)
	if err == nil && n != 0 {
		err = fmt.Errorf("the store has a run %s already, which goes on there", run)
	}
	return err
}

// imported is whose the first session of a run is, which was begun elsewhere.
const imported = "imported"

// Export writes the events of a run into a run folder, which must not be there yet.
func Export(ctx context.Context, s store.Store, run, dir string) (err error) {
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s is there already; remove it, or name another folder", dir)
	}
	submitted, err := wire.ReadSubmitted(ctx, s, run)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	log, err := runlog.Create(dir, run, nil)
	if err != nil {
		return err
	}
	tail := wire.Tail{Store: s, Run: run}
	err = tail.Read(ctx, func(line json.RawMessage) error {
		rec, err := event.Decode(line)
		if err != nil {
			return err
		}
		return log.AppendRecord(rec)
	})
	if err == nil && submitted.Form == event.FormRecords {
		err = exportRecords(ctx, s, run, dir, submitted)
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	r, err := runs.Open(dir)
	if err == nil {
		_, err = r.Store()
	}
	return err
}
