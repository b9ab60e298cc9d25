package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	enums "go.temporal.io/api/enums/v1"
)

// measureCost counts what runs leave with the server and in the store.
func measureCost(ctx context.Context) error {
	b, err := open(ctx, 0)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.addWorker(); err != nil {
		return err
	}
	const records = 10_000
	table, err := b.table(records)
	if err != nil {
		return err
	}
	fmt.Printf("%-8s %8s %12s %10s %12s %10s %12s\n", "run", "steps", "activities", "events", "history", "objects", "store")
	for _, run := range []struct {
		name    string
		steps   int
		command []string
	}{
		{"chain", 1<<13 - 1, []string{"hanoi", "--disks", "13"}},
		{"map", records, table},
		{"solve", 0, []string{"solve", "Multiply 48163957 by 72940183", "--domain", "math", "-k", "2"}},
	} {
		if _, err := b.remote(ctx, append(run.command, "--model", "compat/default", "--base-url", b.sim)); err != nil {
			return err
		}
		about, err := b.client.DescribeWorkflowExecution(ctx, b.last, "")
		if err != nil {
			return err
		}
		info := about.WorkflowExecutionInfo
		activities := 0
		for events := b.client.GetWorkflowHistory(ctx, b.last, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			e, err := events.Next()
			if err != nil {
				return err
			}
			if e.EventType == enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
				activities++
			}
		}
		objects, size, err := b.stored()
		if err != nil {
			return err
		}
		steps := fmt.Sprint(run.steps)
		if run.steps == 0 {
			steps = "-" // each activity is one
		}
		fmt.Printf("%-8s %8s %12d %10d %10d B %10d %10d B\n", run.name, steps, activities, info.HistoryLength, info.HistorySizeBytes, objects, size)
	}
	return nil
}

// stored is how many objects the last run has in the store, and their size.
func (b *bench) stored() (n int, size int64, err error) {
	err = filepath.WalkDir(filepath.Join(b.dir, "store"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, b.last) {
			return err
		}
		info, err := os.Stat(path)
		if err == nil {
			n, size = n+1, size+info.Size()
		}
		return err
	})
	return n, size, err
}
