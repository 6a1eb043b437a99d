package networkpolicy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const table = "inet network-policies"

// A Ruleset is the part of the table that depends on pods and policies.
type Ruleset struct {
	Sets map[string]Set
	// Chains have the lines of each chain. The same name always has the same lines.
	Chains map[string][]string
}

// A Set is a set or a map of nft.
type Set struct {
	Kind     string
	Type     string
	Elements map[string]string
}

func newRuleset() Ruleset {
	return Ruleset{Sets: map[string]Set{}, Chains: map[string][]string{}}
}

func newSet(kind, elementType string) Set {
	return Set{Kind: kind, Type: elementType, Elements: map[string]string{}}
}

// The base chains. Packets of established connections pass. What a pod sends with an address that is not its own, and
// what is sent to an address of which no pod is known, is dropped: a pod has no network before its rules are there. The
// node reaches its own pods, because its packets pass neither hook. What leaves the pods' network gets the node's address.
var base = `
add chain ` + table + ` check
add rule ` + table + ` check ct state established,related accept
add rule ` + table + ` check icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept
add rule ` + table + ` check iifname "veth*" fib saddr . iif oif missing drop
add rule ` + table + ` check iifname "veth*" meta nfproto ipv4 ip saddr != @local-4 drop
add rule ` + table + ` check iifname "veth*" meta nfproto ipv6 ip6 saddr != @local-6 drop
add rule ` + table + ` check oifname "veth*" meta nfproto ipv4 ip daddr != @local-4 drop
add rule ` + table + ` check oifname "veth*" meta nfproto ipv6 ip6 daddr != @local-6 drop
add rule ` + table + ` check ip saddr . ip daddr @self-4 accept
add rule ` + table + ` check ip6 saddr . ip6 daddr @self-6 accept
add rule ` + table + ` check ip saddr vmap @egress-4
add rule ` + table + ` check ip6 saddr vmap @egress-6
add rule ` + table + ` check ip daddr vmap @ingress-4
add rule ` + table + ` check ip6 daddr vmap @ingress-6
add chain ` + table + ` forward { type filter hook forward priority filter; }
add rule ` + table + ` forward jump check
add chain ` + table + ` input { type filter hook input priority filter; }
add rule ` + table + ` input jump check
add chain ` + table + ` leaving { type nat hook postrouting priority srcnat; }
add rule ` + table + ` leaving ip saddr @local-4 ip daddr != ` + ipv4.podNetwork + ` masquerade
add rule ` + table + ` leaving ip6 saddr @local-6 ip6 daddr != ` + ipv6.podNetwork + ` masquerade
`

// Full returns the transaction that replaces the table.
func (rules Ruleset) Full() string {
	var script strings.Builder
	// Adding first makes deleting succeed where there is no table.
	fmt.Fprintf(&script, "add table %s\ndelete table %s\nadd table %s\n", table, table, table)
	additions(&script, newRuleset(), rules)
	script.WriteString(strings.TrimPrefix(base, "\n"))
	return script.String()
}

// Changes returns the transaction that makes one ruleset from another; empty if they are the same.
func Changes(old, rules Ruleset) string {
	var script strings.Builder
	for _, name := range sortedKeys(old.Sets) {
		if set, kept := rules.Sets[name]; kept {
			removeElements(&script, name, old.Sets[name], set)
		}
	}
	additions(&script, old, rules)
	removed := missing(old.Chains, rules.Chains)
	for _, name := range removed {
		fmt.Fprintf(&script, "flush chain %s %s\n", table, name)
	}
	for _, name := range removed {
		fmt.Fprintf(&script, "delete chain %s %s\n", table, name)
	}
	for _, name := range missing(old.Sets, rules.Sets) {
		fmt.Fprintf(&script, "delete %s %s %s\n", old.Sets[name].Kind, table, name)
	}
	return script.String()
}

// additions writes sets before the chains that name them, and those before the maps' elements that name the chains.
func additions(script *strings.Builder, old, rules Ruleset) {
	for _, name := range missing(rules.Sets, old.Sets) {
		set := rules.Sets[name]
		fmt.Fprintf(script, "add %s %s %s { type %s; }\n", set.Kind, table, name, set.Type)
	}
	for _, name := range missing(rules.Chains, old.Chains) {
		fmt.Fprintf(script, "add chain %s %s\n", table, name)
		for _, line := range rules.Chains[name] {
			fmt.Fprintf(script, "add rule %s %s %s\n", table, name, line)
		}
	}
	for _, name := range sortedKeys(rules.Sets) {
		addElements(script, name, old.Sets[name], rules.Sets[name])
	}
}

func addElements(script *strings.Builder, name string, old, set Set) {
	var added []string
	for _, key := range sortedKeys(set.Elements) {
		value := set.Elements[key]
		if present, found := old.Elements[key]; found && present == value {
			continue
		}
		if value != "" {
			key += " : " + value
		}
		added = append(added, key)
	}
	writeElements(script, "add", name, added)
}

func removeElements(script *strings.Builder, name string, old, set Set) {
	var removed []string
	for _, key := range sortedKeys(old.Elements) {
		if value, kept := set.Elements[key]; !kept || value != old.Elements[key] {
			removed = append(removed, key)
		}
	}
	writeElements(script, "delete", name, removed)
}

func writeElements(script *strings.Builder, verb, name string, elements []string) {
	if len(elements) > 0 {
		fmt.Fprintf(script, "%s element %s %s { %s }\n", verb, table, name, strings.Join(elements, ", "))
	}
}

func missing[V any](from, in map[string]V) []string {
	return slices.DeleteFunc(sortedKeys(from), func(name string) bool { _, found := in[name]; return found })
}

func sortedKeys[V any](all map[string]V) []string {
	return slices.Sorted(maps.Keys(all))
}
