package networkpolicy

import (
	"fmt"
	"net/netip"
	"strings"
)

// A family of addresses, in nft's words.
type family struct {
	suffix      string
	header      string
	addressType string
	protocol    string
}

var (
	ipv4     = family{suffix: "4", header: "ip", addressType: "ipv4_addr", protocol: "ipv4"}
	ipv6     = family{suffix: "6", header: "ip6", addressType: "ipv6_addr", protocol: "ipv6"}
	families = []family{ipv4, ipv6}
)

func familyOf(address netip.Addr) family {
	if address.Is4() {
		return ipv4
	}
	return ipv6
}

// set returns the name of the family's set: a set of nft has addresses of one family.
func (family family) set(name string) string {
	return name + "-" + family.suffix
}

func joined[T fmt.Stringer](values []T) string {
	texts := make([]string, len(values))
	for index, value := range values {
		texts[index] = value.String()
	}
	return strings.Join(texts, ", ")
}
