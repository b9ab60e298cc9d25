package serving

import (
	"errors"
	"net"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/server"
)

// register adds the flags about who may.
func (f *flags) register(*cobra.Command) {}

// guard is who may, and how they come.
type guard struct{}

// open finds out who may. Without tokens nobody but processes of this machine may come.
func (a App) open(f *flags) (*guard, error) {
	if err := checkLoopback(f.listen, false); err != nil {
		return nil, &maker.ConfigError{Field: "listen", Err: errors.New("want an address of this machine alone, such as " + DefaultListen)}
	}
	return &guard{}, nil
}

// options are those of the server with who may.
func (g *guard) options(o server.Options) server.Options { return o }

// listener is what is listened at.
func (g *guard) listener(l net.Listener) net.Listener { return l }

// address is what people open.
func (g *guard) address(addr string) string { return "http://" + addr + "/" }
