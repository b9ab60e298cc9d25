package builtin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// notPublic are the networks that are not somebody's public host. Some of them
// contain another address, which a gateway may unpack.
var notPublic = func() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32", // a cloud's metadata service, on an address that looks public
		"::/96",            // unspecified, loopback and IPv4 in an obsolete form
		"::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
		"3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

// errPrivate is the answer to an address that is not public.
var errPrivate = errors.New("it is not a public address; only public ones are allowed here")

// checkPublic refuses every address but those of the public Internet.
func checkPublic(addr netip.Addr) error {
	plain := addr.Unmap().WithZone("")
	if !plain.IsValid() {
		return errors.New("it is no address")
	}
	for _, p := range notPublic {
		if p.Contains(plain) {
			return fmt.Errorf("%s: %w", addr, errPrivate)
		}
	}
	return nil
}

// A guard dials. It decides by the address that is connected to, not by the name
// in the URL, so that neither a redirect nor a name that changes its address gets
// around it.
type guard struct {
	allowPrivate bool
	resolve      func(ctx context.Context, host string) ([]netip.Addr, error)
	connect      func(ctx context.Context, network, address string) (net.Conn, error) // nil is connectChecked
}

func resolveBySystem(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func (g guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := g.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	connect := g.connect
	if connect == nil {
		connect = g.connectChecked
	}
	var failed error
	for _, addr := range addrs {
		conn, err := connect(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// connectChecked asks once more, about the address that the system is given.
func (g guard) connectChecked(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || g.allowPrivate {
			return err
		}
		return checkPublic(to.Addr())
	}}
	return dialer.DialContext(ctx, network, address)
}

// addresses resolves a host. If one of its addresses is not public, none is used.
func (g guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	addr, err := netip.ParseAddr(host)
	addrs := []netip.Addr{addr}
	if err != nil {
		if oddNumber(host) {
			return nil, fmt.Errorf("%s: write an address as four decimal numbers", host)
		}
		if addrs, err = g.resolve(ctx, host); err != nil {
			return nil, err
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	for i, addr := range addrs {
		if err := checkPublic(addr); err != nil && !g.allowPrivate {
			return nil, fmt.Errorf("%s: %w", host, err)
		}
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// oddNumber reports whether a host is an IPv4 address in a form that only some
// programs understand: 2130706433, 0x7f.1, 0177.0.0.1. No real name ends in a
// number.
func oddNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
