package cli

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/runs"
)

// Hold runs the command line of a run without doing it: whoever goes on with the folder that it
// returns does, and answers what it asks. Without one the exit code says why, as the command has.
func Hold(args []string, s Streams) (dir string, code int) {
	held := make(chan string, 1)
	s.Out = io.Discard // it would tell how to resume here
	code = run(args, s, func(dir string) {
		select {
		case held <- dir:
		default: // a command has one run
		}
	})
	select {
	case dir = <-held:
		return dir, exitDone
	default:
		return "", code
	}
}

// Settings are those that files and variables have here, for engines of other programs.
func Settings(s Streams) (*maker.Options, error) {
	a := &app{Streams: s, sources: map[string]string{}, noInput: true}
	var flags settings
	var o *maker.Options
	cmd := &cobra.Command{Use: "settings", RunE: func(*cobra.Command, []string) (err error) {
		o, err = flags.options(a)
		return err
	}}
	flags.register(cmd, config.All, nil)
	root := a.root()
	root.AddCommand(cmd)
	root.SetArgs([]string{cmd.Name()})
	if err := root.Execute(); err != nil {
		return nil, errors.New(a.message(err))
	}
	o.Protected, o.Ask = a.protected.Files, nil
	return o, nil
}

// Finish says what came of the run in a folder that was done elsewhere, as the command that began
// it does, and returns the exit code.
func Finish(dir string, asJSON bool, s Streams) (int, error) {
	a := &app{Streams: s, json: asJSON, logDir: filepath.Dir(dir), table: true} // the folder may not stay: it is no place to point at
	run, err := runs.Open(dir)
	if err != nil {
		return exitFailed, err
	}
	r, err := run.Result()
	if err == nil {
		err = a.sayResult(r)
	}
	if err != nil {
		return exitFailed, err
	}
	return resultCode(r), nil
}
