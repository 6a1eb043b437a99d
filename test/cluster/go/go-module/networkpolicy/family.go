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
	// podNetwork is kind's default podSubnet of the family.
	podNetwork string
	// nodeBits is the length of the prefix that each node gets of it: kubeadm's default.
	nodeBits int
	// everywhere is the destination of a default route.
	everywhere string
}

var (
	ipv4 = family{
		suffix: "4", header: "ip", addressType: "ipv4_addr", protocol: "ipv4",
		podNetwork: "10.244.0.0/16", nodeBits: 24, everywhere: "0.0.0.0/0",
	}
	ipv6 = family{
		suffix: "6", header: "ip6", addressType: "ipv6_addr", protocol: "ipv6",
		podNetwork: "fd00:10:244::/56", nodeBits: 64, everywhere: "::/0",
	}
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
