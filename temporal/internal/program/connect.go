package program

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"

	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/temporal/internal/claimcheck"
	"github.com/maker-mdap/maker/temporal/store"
)

// connection is which server is asked, and how.
type connection struct {
	address, namespace string
	tls                bool
	cert, key, ca      string
}

func (c *connection) register(f *pflag.FlagSet) {
	f.StringVar(&c.address, "address", client.DefaultHostPort, "host and port of the Temporal server")
	f.StringVar(&c.namespace, "namespace", client.DefaultNamespace, "namespace of the runs there")
	f.BoolVar(&c.tls, "tls", false, "connect with TLS; also if a certificate is named")
	f.StringVar(&c.cert, "tls-cert", "", "file with the certificate of this program, PEM")
	f.StringVar(&c.key, "tls-key", "", "file with its key, PEM")
	f.StringVar(&c.ca, "tls-ca", "", "file with the certificates that the server's is checked with, PEM, instead of the system's")
}

// security is how the connection is secured; nil if it is not.
func (c *connection) security() (*tls.Config, error) {
	if !c.tls && c.cert == "" && c.key == "" && c.ca == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.cert != "" || c.key != "" {
		if c.cert == "" || c.key == "" {
			return nil, usagef("--tls-cert and --tls-key belong together: name both")
		}
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, usagef("--tls-cert: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if c.ca != "" {
		pem, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, usagef("--tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef("--tls-ca: there is no certificate in %s", c.ca)
		}
	}
	return config, nil
}

// place is where the store is.
type place struct{ dir, keyFile string }

func (p *place) register(f *pflag.FlagSet) {
	f.StringVar(&p.dir, "store", "", "folder that start and all workers share")
	f.StringVar(&p.keyFile, "key-file", "", "file with the key that encrypts what is in the store: 32 bytes in hex or base64")
}

// open opens the store.
func (p *place) open(ctx context.Context) (store.Store, error) {
	if p.dir == "" {
		return nil, usagef("there is no store: name a folder that start and all workers share with --store or %s", variableOf("store"))
	}
	folder, err := store.Open(p.dir)
	if err != nil {
		return nil, usagef("--store: %w", err)
	}
	var s store.Store = folder
	if p.keyFile != "" {
		text, err := os.ReadFile(p.keyFile)
		if err != nil {
			return nil, usagef("--key-file: %w", err)
		}
		key, err := store.ParseKey(text)
		if err != nil {
			return nil, usagef("--key-file: %s: %w", p.keyFile, err)
		}
		s = store.Encrypted(s, key)
	}
	if err := store.Check(ctx, s); err != nil {
		return nil, usagef("--store %s: %w (--key-file)", p.dir, err)
	}
	return s, nil
}

// cluster is a server and a store.
type cluster struct {
	client.Client
	store     store.Store
	converter converter.DataConverter
	namespace string
	address   string
}

// connect opens the store and connects to the server. What the connection itself has to say
// goes to the logger.
func (a *app) connect(ctx context.Context, logger log.Logger) (*cluster, error) {
	s, err := a.place.open(ctx)
	if err != nil {
		return nil, err
	}
	security, err := a.server.security()
	if err != nil {
		return nil, err
	}
	data, failures, err := claimcheck.Converters(s)
	if err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, client.Options{
		HostPort: a.server.address, Namespace: a.server.namespace, DataConverter: data, FailureConverter: failures, Logger: logger,
		ConnectionOptions: client.ConnectionOptions{TLS: security},
	})
	if err != nil {
		return nil, fmt.Errorf("no Temporal server answers at %s (--address): %w\none for a try starts with: temporal server start-dev", a.server.address, err)
	}
	return &cluster{Client: c, store: s, converter: data, namespace: a.server.namespace, address: a.server.address}, nil
}

// find is the run that a name means: its own, or the beginning of one that fits no other.
func (c *cluster) find(ctx context.Context, name string) (string, error) {
	all, err := c.store.List(ctx, "runs")
	if err != nil {
		return "", err
	}
	if slices.Contains(all, name) {
		return name, nil
	}
	var found []string
	for _, run := range all {
		if name != "" && strings.HasPrefix(run, name) {
			found = append(found, run)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		hint := "`maker-temporal list` lists what there is"
		if meant := nearest.To(name, all); meant != "" {
			hint = "did you mean " + meant + "?"
		}
		return "", noRunError{usagef("the store has no run %q; %s", name, hint)}
	default:
		return "", usagef("%q may be %s; write more of the name", name, strings.Join(found, ", "))
	}
}

// A noRunError says that the store does not have a run.
type noRunError struct{ error }

func (e noRunError) Unwrap() error { return e.error }

// explain adds what to do to an error of the server about a run.
func (c *cluster) explain(run string, err error) error {
	_, unknown := errors.AsType[*serviceerror.NotFound](err)
	_, noNamespace := errors.AsType[*serviceerror.NamespaceNotFound](err)
	switch {
	case noNamespace:
		return usagef("the server has no namespace %q (--namespace); make it with: temporal operator namespace create -n %s", c.namespace, c.namespace)
	case unknown:
		return fmt.Errorf("%s does not go on at %s: %w\nit goes on with: %s start %s", run, c.address, err, name, run)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w\nthe store of the run is another one: see --store", err)
	}
	return err
}

// quiet is a logger that says nothing: what matters is an error too.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
