package networkpolicy

import (
	"reflect"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// rulesOf compiles a policy with these rules, in YAML.
func rulesOf(t *testing.T, spec string) *Policy {
	t.Helper()
	policy := &networking.NetworkPolicy{}
	policy.Namespace = "shop"
	if err := yaml.UnmarshalStrict([]byte(spec), &policy.Spec); err != nil {
		t.Fatal(err)
	}
	for _, rule := range policy.Spec.Ingress {
		for index := range rule.Ports {
			setDefault(&rule.Ports[index])
		}
	}
	for _, rule := range policy.Spec.Egress {
		for index := range rule.Ports {
			setDefault(&rule.Ports[index])
		}
	}
	compiled, err := Compile(policy)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// setDefault does what the API server does.
func setDefault(port *networking.NetworkPolicyPort) {
	if port.Protocol == nil {
		tcp := core.ProtocolTCP
		port.Protocol = &tcp
	}
}

func expect(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestDirections(t *testing.T) {
	for _, one := range []struct {
		name, spec      string
		ingress, egress []string
	}{
		{"policyTypes isolate without a rule", `{podSelector: {}, policyTypes: [Ingress, Egress]}`, []string{}, []string{}},
		{"by default only ingress", `{podSelector: {}, ingress: [{}]}`, []string{""}, nil},
		{"by default egress where it has rules", `{podSelector: {}, egress: [{}]}`, []string{}, []string{""}},
		{"a direction without policyType is ignored", `{podSelector: {}, policyTypes: [Egress], ingress: [{}]}`, nil, []string{}},
	} {
		t.Run(one.name, func(t *testing.T) {
			policy := rulesOf(t, one.spec)
			expect(t, policy.Ingress, one.ingress)
			expect(t, policy.Egress, one.egress)
		})
	}
}

func TestRules(t *testing.T) {
	for _, one := range []struct {
		name, rule string
		want       []string
	}{
		{"any peer and port", `{}`, []string{""}},
		{
			"numbers of two protocols",
			`{ports: [{port: 80}, {port: 443}, {protocol: UDP, port: 53}]}`,
			[]string{"tcp dport { 80, 443 }", "udp dport { 53 }"},
		},
		{
			"ranges that overlap, and SCTP",
			`{ports: [{port: 90}, {port: 80, endPort: 100}, {port: 95, endPort: 120}, {protocol: SCTP, port: 7}]}`,
			[]string{"sctp dport { 7 }", "tcp dport { 80-120 }"},
		},
		{"any port of a protocol", `{ports: [{protocol: UDP}]}`, []string{"udp dport { 0-65535 }"}},
		{"a block", `{to: [{ipBlock: {cidr: 10.1.2.3/8}}]}`, []string{"ip daddr 10.0.0.0/8"}},
		{
			"any address but some, of which one contains another",
			`{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.1.0.0/16, 10.0.0.0/8, 10.0.0.0/8]}}]}`,
			[]string{"meta nfproto ipv4 ip daddr != { 10.0.0.0/8 }"},
		},
		{
			"IPv6 blocks",
			`{to: [{ipBlock: {cidr: "::/0", except: ["fc00::/7"]}}, {ipBlock: {cidr: "2001:db8::1/64"}}], ports: [{port: 1}]}`,
			[]string{
				"meta nfproto ipv6 ip6 daddr != { fc00::/7 } tcp dport { 1 }",
				"ip6 daddr 2001:db8::/64 tcp dport { 1 }",
			},
		},
	} {
		t.Run(one.name, func(t *testing.T) {
			expect(t, rulesOf(t, `{podSelector: {}, policyTypes: [Egress], egress: [`+one.rule+`]}`).Egress, one.want)
		})
	}
}

func TestIngressRulesMatchTheSource(t *testing.T) {
	policy := rulesOf(t, `{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24, except: [192.0.2.1/32]}}]}]}`)
	expect(t, policy.Ingress, []string{"ip saddr 192.0.2.0/24 ip saddr != { 192.0.2.1/32 }"})
}

func TestNamedPortsAreOfTheDestination(t *testing.T) {
	policy := rulesOf(t, `{podSelector: {}, ingress: [{ports: [{port: http}]}]}`)
	set := NamedPort{Protocol: "tcp", Name: "http"}.setName()
	expect(t, policy.Ingress, []string{"ip daddr . tcp dport @" + set + "-4", "ip6 daddr . tcp dport @" + set + "-6"})
}

func TestNoRuleMatchesTwoFamilies(t *testing.T) {
	policy := rulesOf(t, `{podSelector: {}, ingress: [{from: [{podSelector: {}}, {ipBlock: {cidr: "::/0"}}], ports: [{port: http}]}]}`)
	expect(t, len(policy.Ingress), 3)
	for _, rule := range policy.Ingress {
		if strings.Contains(rule, "ip ") && strings.Contains(rule, "ip6 ") {
			t.Errorf("nft refuses %q", rule)
		}
	}
}

func TestEqualSelectorsShareASet(t *testing.T) {
	policy := rulesOf(t, `
podSelector: {}
ingress:
  - from:
      - namespaceSelector: {}
        podSelector: {matchLabels: {a: "1", b: "2"}}
      - namespaceSelector: {}
        podSelector: {matchExpressions: [{key: b, operator: In, values: ["2"]}, {key: a, operator: In, values: ["1"]}]}
      - podSelector: {matchLabels: {a: "1", b: "2"}}
`)
	// In and equality differ in text, and share nothing; the pods of the own namespace are others anyway.
	expect(t, len(policy.Peers), 3)
	again := rulesOf(t, `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {b: "2", a: "1"}}}]}]}`)
	for name := range again.Peers {
		if _, shared := policy.Peers[name]; !shared {
			t.Errorf("the set %s is not shared", name)
		}
	}
}
