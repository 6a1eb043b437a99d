import { expect, test } from '@jest/globals';
import { withUpstream } from './cluster-dns.ts';

const corefile = `.:53 {
    errors
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
}
`;
const changed = `.:53 {
    errors
    forward . [fc00::2]:1053 {
       force_tcp
       max_concurrent 1000
    }
    cache 30
}
`;

test.each([
  ['the file of kubeadm', corefile, '[fc00::2]:1053', changed],
  ['a changed file', changed, '[fc00::2]:1053', changed],
  ['the former address of the node', changed, '[fc00::9]:1053', changed.replace('::2', '::9')],
])('asks the upstream of %s', (_, before, address, after) => {
  expect(withUpstream(before, address)).toBe(after);
});

test('refuses a file without an upstream', () => {
  expect(() => withUpstream('.:53 {\n}\n', '[fc00::2]:1053')).toThrow('forward');
});
